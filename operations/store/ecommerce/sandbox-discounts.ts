/**
 * Discounts of the sandbox's shops. A word in the title simulates a failure. `FAIL-REFUSE`: the discount is refused.
 * `FAIL-DOWN`: it is not stored, and the call gets no response. `FAIL-TIMEOUT`: it is stored, but the call gets no response.
 * `FAIL-BUSY`: the call is throttled. `FAIL-REMOVE`: it is stored, but its removal gets no response.
 */

import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { inCurrency } from '#runtime/values/money'
import { type DiscountSpec, type DiscountUsage, discountHash, type LiveDiscount } from './discounts.ts'
import { findObjects, instantText, listObjects, putObjects, type Shop, withShopLock } from './sandbox-rows.ts'

/** A removed discount stays as a tombstone with `spec` null, which keeps its revision. */
interface StoredDiscount {
  reference: string
  platformId: string
  revision: number
  /** When it was first stored. */
  createdAt: string
  spec: DiscountSpec | null
}

const find = async (locked: Shop, reference: string): Promise<StoredDiscount | undefined> =>
  (await findObjects<StoredDiscount>(locked, 'discount', [reference], true))[0]

const put = (locked: Shop, data: StoredDiscount): Promise<void> =>
  putObjects(locked, 'discount', [{ id: data.reference, data, updatedAt: instantText(locked.clock.now()) }])

const unanswered = (accepted: 'no' | 'unknown') =>
  new Unavailable(accepted, 'The sandbox platform does not answer')

/** Creates or replaces a discount; ignores an older revision. Fails if the title asks for a failure. */
export async function putDiscount(shop: Shop, spec: DiscountSpec): Promise<{ platformId: string }> {
  const { title, reference } = spec
  if (title.includes('FAIL-REFUSE')) {
    throw new Refused('discount-refused', `The platform does not take a discount named ${title}`)
  }
  if (title.includes('FAIL-DOWN')) throw unanswered('no')
  if (title.includes('FAIL-BUSY')) throw new Throttled(2000)
  const platformId = await withShopLock(shop, async (locked) => {
    const known = await find(locked, reference)
    const id = known?.platformId ?? `discount-${reference.replaceAll(':', '-')}`
    if (!known || spec.revision >= known.revision) {
      const createdAt = known?.createdAt ?? instantText(locked.clock.now())
      await put(locked, { reference, platformId: id, revision: spec.revision, createdAt, spec })
    }
    return id
  })
  if (title.includes('FAIL-TIMEOUT')) throw unanswered('unknown')
  return { platformId }
}

/** Also succeeds for an unknown or removed discount. */
export async function removeDiscount(shop: Shop, reference: string, revision: number): Promise<void> {
  await withShopLock(shop, async (locked) => {
    const known = await find(locked, reference)
    if (known?.spec?.title.includes('FAIL-REMOVE')) throw unanswered('unknown')
    if (known && revision < known.revision) return
    const createdAt = known?.createdAt ?? instantText(locked.clock.now())
    await put(locked, { reference, platformId: known?.platformId ?? '', revision, createdAt, spec: null })
  })
}

type CurrentDiscount = StoredDiscount & { spec: DiscountSpec }

/** Current and future discounts, oldest first. */
export async function listSandboxDiscounts(shop: Shop): Promise<CurrentDiscount[]> {
  const stored = await listObjects<StoredDiscount>(shop, 'discount')
  return stored.filter((each): each is CurrentDiscount => each.spec !== null)
}

export async function listDiscounts(shop: Shop): Promise<LiveDiscount[]> {
  return (await listSandboxDiscounts(shop)).map(({ reference, platformId, revision, spec }) => ({
    reference,
    platformId,
    revision,
    hash: discountHash(spec),
  }))
}

/** How many orders used each discount, and the discounted amounts, by reference. */
export async function discountUsage(
  shop: Shop,
  references: readonly string[],
): Promise<Record<string, DiscountUsage>> {
  const used = await findObjects<DiscountUsage & { reference: string }>(shop, 'discount-usage', references)
  return Object.fromEntries(used.map(({ reference, ...usage }) => [reference, usage]))
}

/** Adds an order to the usage of the discounts that it used; `amount` is in cents. */
export async function countUsage(
  locked: Shop,
  used: readonly { reference: string; amount: bigint }[],
  currency: string,
): Promise<void> {
  const { toCents, toMoney } = inCurrency(currency)
  const before = await discountUsage(
    locked,
    used.map(({ reference }) => reference),
  )
  for (const { reference, amount } of used) {
    const { orders, total } = before[reference] ?? { orders: 0, total: null }
    await recordUsage(locked, reference, {
      orders: orders + 1,
      total: toMoney(toCents(total ?? '0.00') + amount),
      currency,
    })
  }
}

/** Overwrites the usage of a discount. */
export async function recordUsage(shop: Shop, reference: string, usage: DiscountUsage): Promise<void> {
  const updatedAt = instantText(shop.clock.now())
  await putObjects(shop, 'discount-usage', [{ id: reference, data: { reference, ...usage }, updatedAt }])
}
