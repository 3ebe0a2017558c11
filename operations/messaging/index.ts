/** The section's public API. */

export {
  findKnownPhones,
  isPhone,
  parseAddress,
  personAddress,
  shownPersonId,
  shownPhone,
} from './addresses.ts'
export { findMessageChanges } from './callbacks/message-changes.ts'
export { resolveAddresses } from './callbacks/person-addresses.ts'
export { readNumberUsage } from './numbers/limit.ts'
export { findRouteByType } from './numbers/route.ts'
export { isOptedOut } from './opt-outs/match.ts'
export * as optOuts from './opt-outs/opt-outs.ts'
export { isStopWord } from './opt-outs/stop-words.ts'
export * as outbox from './outbox/outbox.ts'
export type { StatusData } from './provider/hook-body.ts'
export type { HistoryData, InboundData, MessageChangeData } from './provider/inbound-hooks.ts'
export type { Media, MessagingPort, TemplateSend } from './provider/port.ts'
export { sandboxNumberId } from './provider/sandbox.ts'
export { getSteps } from './provider/sandbox-changes.ts'
export { check, checkRoute, type FailedPrecondition, isWindowOpen } from './sending/check.ts'
export * as sending from './sending/deliver.ts'
export { type MessageReason, messageReason, messageReasonAmong } from './sending/message-reasons.ts'
export { sentMessage } from './sends/schema.ts'
export { sendOne } from './sends/send.ts'
export * as templates from './templates/read.ts'
