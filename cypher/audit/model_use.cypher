// What each model was asked, at which stage, and what it took.
// columns: model STRING, stage STRING, calls INT64, failed INT64, retries INT64, tokens_in INT64, tokens_out INT64, seconds DOUBLE
MATCH (c:LLMCall)
WITH
  c.model AS model, c.stage AS stage, count(c.id) AS calls,
  sum(CASE WHEN c.error = '' THEN 0 ELSE 1 END) AS failed, sum(c.retries) AS retries,
  sum(c.tokens_in) AS tokens_in, sum(c.tokens_out) AS tokens_out, sum(c.seconds) AS seconds
RETURN model, stage, calls, failed, retries, tokens_in, tokens_out, seconds
ORDER BY model, stage
