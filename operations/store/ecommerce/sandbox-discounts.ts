/**
 * Discounts of the sandbox's shops. The title decides how the platform behaves: with `FAIL-REFUSE` it is refused; with
 * `FAIL-DOWN` neither stored nor answered; with `FAIL-TIMEOUT` stored, then not answered; with `FAIL-BUSY` the platform
 * asks to slow down; with `FAIL-REMOVE` put well, but its removal is not answered.
 */

import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { toCents, toMoney } from '#runtime/values/money'
import { type DiscountSpec, type DiscountUsage, discountHash, type LiveDiscount } from './discounts.ts'
import { allObjects, findObjects, instantText, inTurn, putObjects, type Shop } from './sandbox-rows.ts'

/** A removed one stays without its spec, so that its revision is remembered. */
interface StoredDiscount {
  reference: string
  platformId: string
  revision: number
  /** When the platform first had it. */
  createdAt: string
  spec: DiscountSpec | null
}

const find = async (turn: Shop, reference: string): Promise<StoredDiscount | undefined> =>
  (await findObjects<StoredDiscount>(turn, 'discount', [reference], true))[0]

const put = (turn: Shop, data: StoredDiscount): Promise<void> =>
  putObjects(turn, 'discount', [{ id: data.reference, data, updatedAt: instantText(turn.clock.now()) }])

const unanswered = (accepted: 'no' | 'unknown') =>
  new Unavailable(accepted, 'The sandbox platform does not answer')

/** Creates or replaces it; an older revision changes nothing. Throws as the title says. */
export async function putDiscount(shop: Shop, spec: DiscountSpec): Promise<{ platformId: string }> {
  const { title, reference } = spec
  if (title.includes('FAIL-REFUSE')) {
    throw new Refused('discount-refused', `The platform does not take a discount named ${title}`)
  }
  if (title.includes('FAIL-DOWN')) throw unanswered('no')
  if (title.includes('FAIL-BUSY')) throw new Throttled(2000)
  const platformId = await inTurn(shop, async (turn) => {
    const known = await find(turn, reference)
    const id = known?.platformId ?? `discount-${reference.replaceAll(':', '-')}`
    if (!known || spec.revision >= known.revision) {
      const createdAt = known?.createdAt ?? instantText(turn.clock.now())
      await put(turn, { reference, platformId: id, revision: spec.revision, createdAt, spec })
    }
    return id
  })
  if (title.includes('FAIL-TIMEOUT')) throw unanswered('unknown')
  return { platformId }
}

/** What is unknown or gone is success. */
export async function removeDiscount(shop: Shop, reference: string, revision: number): Promise<void> {
  await inTurn(shop, async (turn) => {
    const known = await find(turn, reference)
    if (known?.spec?.title.includes('FAIL-REMOVE')) throw unanswered('unknown')
    if (known && revision < known.revision) return
    const createdAt = known?.createdAt ?? instantText(turn.clock.now())
    await put(turn, { reference, platformId: known?.platformId ?? '', revision, createdAt, spec: null })
  })
}

type HeldDiscount = StoredDiscount & { spec: DiscountSpec }

/** What the platform applies or will apply, oldest first. */
export async function heldDiscounts(shop: Shop): Promise<HeldDiscount[]> {
  const stored = await allObjects<StoredDiscount>(shop, 'discount')
  return stored.filter((each): each is HeldDiscount => each.spec !== null)
}

export async function listDiscounts(shop: Shop): Promise<LiveDiscount[]> {
  return (await heldDiscounts(shop)).map(({ reference, platformId, revision, spec }) => ({
    reference,
    platformId,
    revision,
    hash: discountHash(spec),
  }))
}

/** The orders that used them. */
export async function discountUsage(
  shop: Shop,
  references: readonly string[],
): Promise<Record<string, DiscountUsage>> {
  const used = await findObjects<DiscountUsage & { reference: string }>(shop, 'discount-usage', references)
  return Object.fromEntries(used.map(({ reference, ...usage }) => [reference, usage]))
}

/** An order used them: `amount` in cents. */
export async function countUse(
  turn: Shop,
  used: readonly { reference: string; amount: bigint }[],
  currency: string,
): Promise<void> {
  const before = await discountUsage(
    turn,
    used.map(({ reference }) => reference),
  )
  for (const { reference, amount } of used) {
    const { orders, total } = before[reference] ?? { orders: 0, total: null }
    await recordUsage(turn, reference, {
      orders: orders + 1,
      total: toMoney(toCents(total ?? '0.00') + amount),
      currency,
    })
  }
}

/** Orders used it so often, as the seed and the tests would have it. */
export async function recordUsage(shop: Shop, reference: string, usage: DiscountUsage): Promise<void> {
  const updatedAt = instantText(shop.clock.now())
  await putObjects(shop, 'discount-usage', [{ id: reference, data: { reference, ...usage }, updatedAt }])
}
