"""Situations of schedulers and operators that Mesos's own tests name: what frameworks are offered, on every master."""
