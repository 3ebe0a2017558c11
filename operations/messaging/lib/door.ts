/** What other sections may use of this one. */
export { check, checkRoute, isWindowOpen, type Objection } from './check.ts'
export { onConnected, onOfficialDisconnected } from './connected.ts'
export { numberLimit } from './health.ts'
export { type NumberUsage, numberUsage, setNumberLimit, tierLimits } from './number-limit.ts'
export { sentMessage } from './send-schema.ts'
export * as sending from './sending.ts'
export { type SingleSend, sendOne } from './sends.ts'
export * as templates from './templates.ts'
