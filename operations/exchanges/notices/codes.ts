/** Nothing calls for a notice any more, or not by this way. */
export type Objection = 'moved-on' | 'too-late' | 'turned-off' | 'subscription-inactive'

declare module '#operations/messaging/outbox/lane' {
  interface Codes extends Record<Objection, true> {}
}
