// Record that an action does not apply any more.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, effect_id STRING NOT NULL, kind STRING NOT NULL, detail STRING NOT NULL, resolved STRING NOT NULL
MATCH (o:Effect {id: $owner})
CREATE (o)<-[:OF]-(:Conflict {
  id: $id, caption: $caption, ts: $ts, effect_id: $effect_id, kind: $kind, detail: $detail,
  resolved: $resolved
})
