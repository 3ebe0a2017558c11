/** What other sections may use of this one. */

export { addressesOf } from './callbacks/people.ts'
export { changesOf } from './callbacks/told.ts'
export { type NumberUsage, numberUsage, setNumberLimit, tierLimits } from './numbers/limit.ts'
export { routeOfType } from './numbers/route.ts'
export { numberLimit } from './official/health.ts'
export { isOptedOut } from './opt-outs/match.ts'
export * as optOuts from './opt-outs/opt-outs.ts'
export { isStopWord } from './opt-outs/stop-words.ts'
export * as outbox from './outbox/outbox.ts'
export type { StatusData } from './provider/hook-body.ts'
export type { HistoryData, InboundData, MessageChangeData } from './provider/inbound-hooks.ts'
export type { Media, MessagingPort, TemplateSend } from './provider/port.ts'
export { sandboxNumberId } from './provider/sandbox.ts'
export { stepsOf } from './provider/sandbox-changes.ts'
export { check, checkRoute, isWindowOpen, type Objection } from './sending/check.ts'
export {
  errorOf,
  type ObjectionCode,
  type RefusalCode,
  refusalCode,
  type SingleError,
} from './sending/codes.ts'
export * as sending from './sending/deliver.ts'
export { sentMessage } from './sends/schema.ts'
export { type SingleSend, sendOne } from './sends/start.ts'
export * as templates from './templates/read.ts'
