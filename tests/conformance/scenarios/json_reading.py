"""How a master reads JSON: what it accepts beyond the standard, what it refuses within it.

The rows were written by watching a real 1.11.0 master.
"""

from tests.conformance.scenarios.scenario import Row, Step, api, delete, get, old_status, scalar, send, status
from tests.conformance.scenarios.setups import STANDARD

ONE_CPU = '{"name":"cpus","type":"SCALAR","scalar":{"value":1}}'
NOTHING_SET = get("/quota").gives(200, {})


def post(guarantee: str, more: str = "", after: str = "") -> Step:
    return send("POST", "/quota", f'{{"role":"r1","force":true,"guarantee":{guarantee}{more}}}{after}')


def with_amount(amount: str) -> Step:
    """A POST whose amount is this JSON text."""
    return post(f'[{{"name":"cpus","type":"SCALAR","scalar":{{"value":{amount}}}}}]')


def one_cpu_and(more: str) -> str:
    """A guarantee of one resource with one more key and value."""
    return f"[{ONE_CPU[:-1]},{more}}}]"


def shows(role: str, name: str, amount: float) -> Step:
    kept = {role: {name: amount}}
    return get("/quota").gives(200, status(**kept)).old(200, old_status(**kept))


AMOUNTS_TAKEN = {
    "1.2345": 1.2345,
    "0.0005": 0.0005,
    "1.0004": 1.0004,
    "1E2": 100,
    '" 1"': 1,
    '"1e1"': 10,
    '"1.5f"': 1.5,
    '"1x "': 1,
    "999999999999": 999999999999,
}
NOT_JSON_BUT_TAKEN = ("1.", "01", "-0.")
AMOUNTS_REFUSED = (
    "1.5.1",
    "1-2",
    "-",
    "0.0004999",
    "-0.0004",
    "1e300",
    "1e400",
    "NaN",
    "Infinity",
    ".5",
    "true",
    "null",
    "[1]",
    "{}",
    '""',
    '"1 "',
    '"1 x"',
    '"1xx"',
    '"+1"',
    '"0x10"',
    '"1,5"',
    '"inf"',
    '"nan"',
    '"true"',
)
GUARANTEES_TAKEN = {
    "lone object": ONE_CPU,
    "list in a list": f"[[{ONE_CPU}]]",
    "null beside it": f"[null,{ONE_CPU},null]",
    "own role is *": one_cpu_and('"role":"*"'),
    "no reservations": one_cpu_and('"reservations":[]'),
    "allocated": one_cpu_and('"allocation_info":{"role":"x"}'),
    "provided": one_cpu_and('"provider_id":{"value":"x"}'),
}
GUARANTEES_REFUSED = {
    "null": "null",
    "list of null": "[null]",
    "text": '"cpus:1"',
    "list of text": '["cpus:1"]',
    "number": "1",
    "type a number": '[{"name":"cpus","type":0,"scalar":{"value":1}}]',
    "type in small letters": '[{"name":"cpus","type":"scalar","scalar":{"value":1}}]',
    "no name": '[{"type":"SCALAR","scalar":{"value":1}}]',
    "empty name": '[{"name":"","type":"SCALAR","scalar":{"value":1}}]',
    "name a number": '[{"name":1,"type":"SCALAR","scalar":{"value":1}}]',
    "scalar a number": '[{"name":"cpus","type":"SCALAR","scalar":1}]',
    "ranges beside scalar": one_cpu_and('"ranges":{}'),
}
ROLES_TAKEN = {"accent": "rôle", "emoji": "\N{GRINNING FACE}", "percent": "100%", "dots": "...", "quote": 'r"1'}
ROLES_REFUSED = (".", "..", "-r", "/", "/r", "r/", "r//s", "r\n", "r s", "r\t", "r\x7f", "*/r", "r/*", "r/..", "r/-s")
TEXTS_REFUSED = {
    "nothing but null": "null",
    "a text": '"x"',
    "comma at the end": f'{{"role":"r1","guarantee":[{ONE_CPU}],}}',
    "single quotes": "{'role':'r1'}",
    "comment": f'// no\n{{"role":"r1","guarantee":[{ONE_CPU}]}}',
    "byte order mark": f'\N{ZERO WIDTH NO-BREAK SPACE}{{"role":"r1","guarantee":[{ONE_CPU}]}}',
    "key in capitals": f'{{"Role":"r1","guarantee":[{ONE_CPU}]}}',
    "role null": f'{{"role":null,"guarantee":[{ONE_CPU}]}}',
    "role a list": f'{{"role":["r1"],"guarantee":[{ONE_CPU}]}}',
    "two objects": "{}{}",
}

ROWS = (
    *(Row(f"amount {text}", STANDARD, with_amount(text).gives(200), shows("r1", "cpus", value))
      for text, value in AMOUNTS_TAKEN.items()),
    *(Row(f"amount {text}", STANDARD, with_amount(text).gives(200))
      for text in NOT_JSON_BUT_TAKEN),
    *(Row(f"amount {text} refused", STANDARD, with_amount(text).gives(400), NOTHING_SET)
      for text in AMOUNTS_REFUSED),
    *(Row(f"guarantee: {name}", STANDARD, post(text).gives(200), shows("r1", "cpus", 1))
      for name, text in GUARANTEES_TAKEN.items()),
    *(Row(f"guarantee refused: {name}", STANDARD, post(text).gives(400), NOTHING_SET)
      for name, text in GUARANTEES_REFUSED.items()),
    *(Row(f"role: {name}", STANDARD,
          send("POST", "/quota", {"role": role, "guarantee": [scalar("cpus", 1)]}).gives(200),
          shows(role, "cpus", 1))
      for name, role in ROLES_TAKEN.items()),
    *(Row(f"role refused: {role!r}", STANDARD,
          send("POST", "/quota", {"role": role, "guarantee": [scalar("cpus", 1)]}).gives(400), NOTHING_SET)
      for role in ROLES_REFUSED),
    *(Row(f"body refused: {name}", STANDARD, send("POST", "/quota", text).gives(400), NOTHING_SET)
      for name, text in TEXTS_REFUSED.items()),
    Row("amounts compare at three decimals", STANDARD,
        send("POST", "/quota", {"role": "r1", "guarantee": [scalar("cpus", 12.0004)]}).gives(200),
        send("POST", "/quota", {"role": "r2", "guarantee": [scalar("cpus", 4.0004)]}).gives(200),
        send("POST", "/quota", {"role": "r3", "guarantee": [scalar("cpus", 8.0004)]}).gives(200).old(409)),
    *(Row(f"weight {text}", STANDARD, send("PUT", "/weights", [{"role": "r1", "weight": text}]).gives(answer),
          spoils=True)
      for text, answer in {"Infinity": 200, "-Infinity": 400, "NaN": 400, "infinity": 400, " Infinity": 400}.items()),
    Row("an infinite weight is read back", STANDARD,
        send("PUT", "/weights", [{"role": "r1", "weight": "Infinity"}]).gives(200),
        get("/weights").gives(200, [{"role": "r1", "weight": "Infinity"}]), spoils=True),
    Row("an infinite amount", STANDARD, with_amount('"Infinity"').gives(400), NOTHING_SET),
    Row("a volume grows on no agent", STANDARD,
        api("GROW_VOLUME", grow_volume={"volume": scalar("disk", 1), "addition": scalar("disk", 1)}).gives(400)),
    Row("a file that is not named is listed", STANDARD, api("LIST_FILES").gives(400)),
    Row("force null", STANDARD, post(f"[{ONE_CPU}]", ',"force":null').gives(200)),
    Row("force is false again", STANDARD,
        post('[{"name":"cpus","type":"SCALAR","scalar":{"value":100}}]', ',"force":"false"').gives(409)),
    Row("force a number", STANDARD, post(f"[{ONE_CPU}]", ',"force":1').gives(400)),
    Row("force yes", STANDARD, post(f"[{ONE_CPU}]", ',"force":"yes"').gives(400)),
    Row("guarantee twice", STANDARD,
        post(f"[{ONE_CPU}]", ',"guarantee":[{"name":"mem","type":"SCALAR","scalar":{"value":1}}]').gives(200),
        shows("r1", "mem", 1)),
    Row("blanks after the object", STANDARD, post(f"[{ONE_CPU}]", after=" \n\t").gives(200)),
    Row("role in the path is not decoded", STANDARD,
        send("POST", "/quota", {"role": "100%", "guarantee": [scalar("cpus", 1)]}).gives(200),
        delete("/quota/100%25").gives(400)),
)  # fmt: skip
