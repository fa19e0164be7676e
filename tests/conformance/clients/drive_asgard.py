"""The Mesos metrics of Asgard: one path of its API an argument; HOLLOWMAN_MESOS_ADDRESS_0 is a master's URL.

Writes a JSON array for each: the path, and what was answered.
"""

import json
import sys

from flask import Flask
from metrics import mesos_metrics_blueprint

application = Flask(__name__)
application.register_blueprint(mesos_metrics_blueprint, url_prefix="/metrics")
for path in sys.argv[1:]:
    answer = application.test_client().get(path)
    sys.stdout.write(json.dumps([path, answer.get_json()]) + "\n")
