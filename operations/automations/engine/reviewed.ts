/** Orders whose customer need not be asked for a review: the reviews' section knows them. */
import type { Context } from '#runtime/context'

/** `not-eligible`: the review is there; `duplicate-request`: it was asked for. */
export type Reviewed = ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
type Knower = (ctx: Context, orderIds: readonly string[]) => Promise<Reviewed>
const knowers: Knower[] = []

/** Registers who knows which of some orders are reviewed or were asked about. */
export const registerReviewed = (knower: Knower): void => {
  knowers.push(knower)
}

export async function reviewedOrders(ctx: Context, orderIds: readonly string[]): Promise<Reviewed> {
  const known = new Map<string, 'not-eligible' | 'duplicate-request'>()
  if (orderIds.length === 0) return known
  for (const knower of knowers) for (const [id, why] of await knower(ctx, orderIds)) known.set(id, why)
  return known
}
