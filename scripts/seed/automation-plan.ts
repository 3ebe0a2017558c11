/** What became of every run of Aurora's automations: 1,600 messages, before any row is written. No database. */
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { AutomationKey } from './automation-definitions.ts'
import type { Person } from './people.ts'
import type { Random } from './random.ts'
import { hourMs, minuteMs, type Timeline } from './timeline.ts'

export interface Contact extends Person {
  /** The platform's id; null for a visitor. */
  id: string | null
}

export type Fate =
  | 'accepted'
  /** Not taken by the provider, or never given to it. */
  | 'refused'
  | 'skipped'
  | 'cancelled'
  | 'pending'

export interface PlannedMessage {
  fate: Fate
  /** The first message of its run, or the one at the end of the flow. */
  isFirst: boolean
  /** When it was due, and left or ended. */
  at: Date
  /** Why it was skipped, refused or is held. */
  reason: string | null
  /** An order came from it: then, it has to have been read. */
  orderedAt: Date | null
  /** Nothing of its run came after it: the network may have lost it. */
  isLast: boolean
}

export interface PlannedRun {
  automation: AutomationKey
  /** Once for ever in its automation. */
  key: string
  person: Contact
  order: PlatformOrder | null
  /** The cart's id, and whose items were in it. */
  cart: { id: string; items: PlatformOrder['items'] } | null
  occurredAt: Date
  messages: PlannedMessage[]
  /** The code that its order was placed with. */
  coupon: string | null
}

export const runMinutes = 1440
export const cartDelayMs = hourMs

type MessageInput = Pick<PlannedMessage, 'at' | 'fate'> & Partial<PlannedMessage>

const message = (isFirst: boolean, input: MessageInput): PlannedMessage => ({
  isFirst,
  reason: null,
  orderedAt: null,
  isLast: false,
  ...input,
})
export const first = (input: MessageInput): PlannedMessage => message(true, input)
export const second = (input: MessageInput): PlannedMessage => message(false, input)

/** The local hours in which promotional messages leave. */
export const isDaytime = (timeline: Timeline, at: Date): boolean => {
  const hour = timeline.localHour(at)
  return hour >= 8 && hour < 20.9
}

/** An instant of the daytime, from `most` to `least` days ago. */
export function daytime(timeline: Timeline, random: Random, least: number, most: number): Date {
  for (;;) {
    const at = timeline.ago(random.between(least, most))
    if (isDaytime(timeline, at)) return at
  }
}

/** When a message left that brought an order: in the daytime, up to 20 hours before it. */
export function beforeOrder(timeline: Timeline, random: Random, placedAt: Date): Date {
  for (;;) {
    const at = new Date(placedAt.getTime() - random.between(20 * minuteMs, 20 * hourMs))
    if (isDaytime(timeline, at)) return at
  }
}

/** Carts of before the mirror's own: the platform does not know them any more. */
export class CartIds {
  #next = 1
  /** `C100001`, then on. */
  next(): string {
    const id = `C${100_000 + this.#next}`
    this.#next += 1
    return id
  }
}

/** When a message was sent or ended; of its run, whether the report counts it among the last 30 days. */
export const isSince =
  (from: Date) =>
  (each: PlannedMessage): boolean =>
    each.at >= from

export const countOf = (runs: readonly PlannedRun[], fits: (each: PlannedMessage) => boolean): number =>
  runs.reduce((sum, run) => sum + run.messages.filter(fits).length, 0)

export const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms)
