"""How an answer looks: table, json, jsonl, csv, name.  Depends on values alone."""
