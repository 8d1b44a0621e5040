// Give an entity that is there another label and text; what else it says stays.
// params: id STRING NOT NULL, label STRING NOT NULL, norm_label STRING, raw STRING, changed_by STRING
MATCH (e:Entity {id: $id})
SET e.label = $label, e.norm_label = $norm_label, e.raw = $raw, e.changed_by = $changed_by
