/** A popup that was sent: what is stored, and what the shopper is told. */
import type { Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { z } from '#runtime/schema'
import { isTrapped, previewOf } from '../popup/public.ts'
import type { PopupSettings, Prize } from '../popup/schema.ts'
import { popup } from '../popup/settings.ts'
import { type CaptureBody, captureBody } from '../schema.ts'
import type { PromisedCoupon } from './codes.ts'
import { issueAtOnce } from './coupons.ts'
import { type Person, personOf } from './person.ts'
import { draw, settled, subscribe } from './subscribe.ts'

export interface Told {
  status: 'subscribed' | 'already-subscribed'
  prize: Pick<Prize, 'id' | 'label'> | null
  coupon: (Pick<PromisedCoupon, 'type' | 'value' | 'expiresAt'> & { code: string | null }) | null
  /** The platform does not have the code yet: it comes by email. */
  couponPending: boolean
}

const plain: Told = { status: 'subscribed', prize: null, coupon: null, couponPending: false }

/** Refuses (404) where the popup is off, and what its fields do not take. */
export async function capture(ctx: Context, visit: Visit): Promise<Told> {
  const saved = await popup.forShoppers(ctx)
  const given = await readObject(visit, saved.isEnabled)
  const preview = typeof given.token === 'string' ? await previewOf(ctx, given.token) : null
  if (!preview && !saved.isEnabled) throw nothingHere()
  const body = read(captureBody, given, 'body') as CaptureBody
  const settings = preview ?? saved
  const trapped = isTrapped(ctx, body)
  const person = personOf(settings, body, ctx.store.country)
  if (trapped) return plain
  if (preview) return previewed(ctx, settings)
  await visit.accepted()
  return store(ctx, settings, person)
}

const nothingHere = () => refuse('not_found', 'There is nothing here')

const anyObject = z.record(z.unknown())

/** Where the popup is off, nothing is said of what is wrong with a body. */
async function readObject(visit: Visit, isEnabled: boolean): Promise<Record<string, unknown>> {
  if (isEnabled) return visit.body(anyObject)
  return visit.body(anyObject).catch(() => {
    throw nothingHere()
  })
}

/** As if it were stored. */
async function previewed(ctx: Context, settings: PopupSettings): Promise<Told> {
  const { prize, coupon, code } = await draw(ctx, settings)
  return told(settings, prize, coupon, code, false)
}

/** Stores a subscription and makes its code, at once where the platform is quick. */
export async function store(ctx: Context, settings: PopupSettings, person: Person): Promise<Told> {
  const made = await settled(ctx, (tx) => subscribe(tx, settings, person, { draws: true }))
  const { outcome, subscriberId, prize, coupon, code, isPending } = made
  if (outcome === 'known') return { ...plain, status: 'already-subscribed' }
  if (!isPending || coupon === null || code === null) return told(settings, prize, coupon, code, false)
  const emails = settings.couponDelivery !== 'screen' && person.email !== null
  const isIssued = await issueAtOnce(ctx, subscriberId, { code, coupon }, { emails })
  return told(settings, prize, coupon, isIssued ? code : null, !isIssued)
}

function told(
  { couponDelivery }: PopupSettings,
  prize: Pick<Prize, 'id' | 'label'> | null,
  coupon: PromisedCoupon | null,
  code: string | null,
  couponPending: boolean,
): Told {
  return {
    status: 'subscribed',
    prize: prize && { id: prize.id, label: prize.label },
    coupon: coupon && {
      code: couponDelivery === 'email' ? null : code,
      type: coupon.type,
      value: coupon.value,
      expiresAt: coupon.expiresAt,
    },
    couponPending,
  }
}
