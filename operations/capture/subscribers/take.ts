/** A popup that was sent: what is stored, and what the shopper is told. */
import { answeredIn, type Visit } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { z } from '#runtime/schema'
import { isTrapped, previewOf } from '../popup/public.ts'
import type { PopupSettings, Prize } from '../popup/schema.ts'
import { popup } from '../popup/settings.ts'
import { type CaptureBody, captureBody } from '../schema.ts'
import type { PromisedCoupon } from './codes.ts'
import { issueAtOnce } from './coupons.ts'
import { type Person, personOf } from './person.ts'
import { draw, type Subscription, settled, subscribe } from './subscribe.ts'

interface Told {
  status: 'subscribed' | 'already-subscribed'
  prize: Pick<Prize, 'id' | 'label'> | null
  coupon: (Pick<PromisedCoupon, 'type' | 'value' | 'expiresAt'> & { code: string | null }) | null
  /** The platform does not have the code yet: it comes by email. */
  couponPending: boolean
}

const plain: Told = { status: 'subscribed', prize: null, coupon: null, couponPending: false }

/** Refuses (404) where the popup is off, and what its fields do not take. */
export async function capture(ctx: Context, visit: Visit): Promise<Response> {
  const saved = await popup.forShoppers(ctx)
  const given = await readObject(visit, saved.isEnabled)
  const preview = typeof given.token === 'string' ? await previewOf(ctx, given.token) : null
  if (!preview && !saved.isEnabled) throw nothingHere()
  const body = read(captureBody, given, 'body') as CaptureBody
  const settings = preview ?? saved
  const trapped = isTrapped(ctx, body)
  const person = personOf(settings, body, ctx.store.country)
  if (trapped) return answerOf(plain)
  if (preview) return answerOf(await previewed(ctx, settings))
  await visit.accepted()
  return store(ctx, settings, person)
}

const answerOf = (told: Told): Response => jsonAnswer(told, told.status === 'already-subscribed' ? 200 : 201)

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

/**
 * Stores a subscription and makes its code, at once where the platform is quick. The prize and the code are told once, so
 * that what tells them is kept with them.
 */
async function store(ctx: Context, settings: PopupSettings, person: Person): Promise<Response> {
  const { made, answer } = await settled(ctx, async (tx) => {
    const made = await subscribe(tx, settings, person, { draws: true })
    if (made.isPending) return { made, answer: null }
    return { made, answer: await answeredIn(tx, answerOf(toldAtOnce(settings, made))) }
  })
  const { subscriberId, prize, coupon, code } = made
  if (answer || coupon === null || code === null) return answer ?? answerOf(toldAtOnce(settings, made))
  const emails = settings.couponDelivery !== 'screen' && person.email !== null
  const issued = await issueAtOnce(ctx, subscriberId, { code, coupon }, { emails }, (tx) =>
    answeredIn(tx, answerOf(told(settings, prize, coupon, code, false))),
  )
  return issued ?? answerOf(told(settings, prize, coupon, null, true))
}

const toldAtOnce = (settings: PopupSettings, { outcome, prize, coupon, code }: Subscription): Told =>
  outcome === 'known'
    ? { ...plain, status: 'already-subscribed' }
    : told(settings, prize, coupon, code, false)

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
