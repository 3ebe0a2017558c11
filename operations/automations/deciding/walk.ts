/** The way through a flow (rule 3), up to where the run has to stop. No database, no clock. */
import { minuteMs } from '#runtime/durations'
import type { AutomationMessage, CouponSpec, Flow, Step } from '../types.ts'

/** Where a run stands: at the first message (null) or a step, due at `at`. */
export interface Position {
  stepId: string | null
  /** When it was due: a wait that it stands at is over then. */
  at: Date
}

export interface WalkFacts {
  now: Date
  /** By `run`: nothing is waited for. */
  skipsWaits: boolean
  purchased: { any: boolean; paid: boolean }
  /** Steps whose coupon the platform has. */
  coupons: ReadonlySet<string>
}

/** What happened at a step on the way. The first message is step ''. */
export interface Passage {
  stepId: string
  type: Step['type']
  outcome: 'purchased' | 'not-purchased' | 'issued' | null
  enteredAt: Date
  /** Null: it stands there now. */
  leftAt: Date | null
}

type Stop =
  | { at: 'wait'; stepId: string; until: Date }
  | { at: 'coupon'; stepId: string; coupon: CouponSpec }
  /** `due`: when it was to leave, however late it is now. */
  | { at: 'message'; stepId: string | null; message: AutomationMessage; due: Date }
  | { at: 'end'; reason: 'purchased' | 'flow-ended' }

export interface Walked {
  stop: Stop
  passages: Passage[]
  /** A check found a purchase and the flow goes on for it. */
  passedPurchaseCheck: boolean
}

export function walk(flow: Flow | null, first: AutomationMessage, from: Position, facts: WalkFacts): Walked {
  const { now } = facts
  const passages: Passage[] = []
  let passedPurchaseCheck = false
  const stopped = (stop: Stop): Walked => ({ stop, passages, passedPurchaseCheck })
  if (from.stepId === null) return stopped({ at: 'message', stepId: null, message: first, due: from.at })

  const steps = new Map(flow?.steps.map((step) => [step.id, step]))
  let { at: since, stepId } = from as { at: Date; stepId: string | null }
  let isFirst = true
  for (;;) {
    const step = stepId === null ? undefined : steps.get(stepId)
    if (!step) return stopped({ at: 'end', reason: 'flow-ended' })
    const stoodHere = isFirst
    isFirst = false
    const enteredAt = now
    const pass = (outcome: Passage['outcome'] = null): void => {
      passages.push({ stepId: step.id, type: step.type, outcome, enteredAt, leftAt: now })
    }
    const stay = (): void => {
      passages.push({ stepId: step.id, type: step.type, outcome: null, enteredAt, leftAt: null })
    }
    switch (step.type) {
      case 'wait': {
        const until = stoodHere ? since : new Date(since.getTime() + step.minutes * minuteMs)
        if (until > now && !facts.skipsWaits) {
          stay()
          return stopped({ at: 'wait', stepId: step.id, until })
        }
        pass()
        since = new Date(Math.min(until.getTime(), now.getTime()))
        stepId = step.next
        break
      }
      case 'purchase-check': {
        const hasPurchased = step.paidOnly ? facts.purchased.paid : facts.purchased.any
        pass(hasPurchased ? 'purchased' : 'not-purchased')
        const next = hasPurchased ? step.ifPurchased : step.ifNot
        if (next === null) return stopped({ at: 'end', reason: hasPurchased ? 'purchased' : 'flow-ended' })
        if (hasPurchased) passedPurchaseCheck = true
        stepId = next
        break
      }
      case 'coupon':
        if (!facts.coupons.has(step.id)) {
          stay()
          return stopped({ at: 'coupon', stepId: step.id, coupon: step.coupon })
        }
        pass('issued')
        stepId = step.next
        break
      case 'message':
        stay()
        return stopped({ at: 'message', stepId: step.id, message: step.message, due: since })
    }
  }
}

/** The step after the message that has just left; null: the run is over. */
export function stepAfter(flow: Flow | null, stepId: string | null): Step | null {
  if (!flow) return null
  const next =
    stepId === null
      ? flow.start
      : (flow.steps.find((step) => step.id === stepId && step.type === 'message') as { next?: string | null })
          ?.next
  return flow.steps.find((step) => step.id === next) ?? null
}
