import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { type Saved, statusAt } from './rows.ts'

/** Refuses to activate what its dates or its limit hold back anyway. */
export function requireActivable(ctx: Context, noun: string, discount: Saved): void {
  const status = statusAt(discount, ctx.now())
  if (status === 'ended') {
    throw refuse('conflict', `The ${noun} has ended: change its endsAt first`)
  }
  if (status === 'exhausted') {
    throw refuse('conflict', `The ${noun} is used up: raise its usageLimit first`)
  }
}
