// The entities that an action changed or linked.
CREATE REL TABLE TOUCHED (
  FROM Action TO Entity, how STRING
)
