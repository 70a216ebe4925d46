{
"hocket_ni_tables": 1,
"algorithm": "ring",
"collective": "all_gather",
"ranks": 3,
"division": {"blocks":3,"pieces_per_block":1,"uniform":false},
"topology": "00000000000000000000000000000000",
"steps": 2,
"unit": "piece",
"flows": [
{"root":0,"piece":0,"pieces":1},
{"root":1,"piece":1,"pieces":1},
{"root":2,"piece":2,"pieces":1}
],
"tables": [
{"rank": 0,
"entries": [
{"opcode":"gather","flow":0,"parent":null,"children":[1],"step":0,"start":0,"size":1},
{"opcode":"gather","flow":2,"parent":2,"children":[1],"step":1,"start":2,"size":1}
],
"aggregation": []},
{"rank": 1,
"entries": [
{"opcode":"gather","flow":1,"parent":null,"children":[2],"step":0,"start":1,"size":1},
{"opcode":"gather","flow":0,"parent":0,"children":[2],"step":1,"start":0,"size":1}
],
"aggregation": []},
{"rank": 2,
"entries": [
{"opcode":"gather","flow":2,"parent":null,"children":[0],"step":0,"start":2,"size":1},
{"opcode":"gather","flow":1,"parent":1,"children":[0],"step":1,"start":1,"size":1}
],
"aggregation": []}
]}
