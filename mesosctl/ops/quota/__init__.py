"""Quota: what roles have, and how that is changed (seeds/quota.md).

    state       what there is: quotas, agents, usage
    options     how a quota is changed
    payload     the rules that need no master
    fitting     the rules on whether it fits a cluster
    setting     quota set
    removing    quota remove
    updating    quota update, by UPDATE_QUOTA
    replacing   quota update, by removing and setting
    checking    quota check

Modules are imported one by one, since a listing should not load what a change needs.
"""
