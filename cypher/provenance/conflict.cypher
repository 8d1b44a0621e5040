// Record that an action does not apply any more.
// params: owner STRING, id STRING, caption STRING, ts STRING, effect_id STRING, kind STRING, detail STRING, resolved STRING
MATCH (o:Effect {id: $owner})
CREATE (o)<-[:OF]-(:Conflict {
  id: $id, caption: $caption, ts: $ts, effect_id: $effect_id, kind: $kind, detail: $detail,
  resolved: $resolved
})
