/** Handles a submitted popup: stores the subscription and builds the response for the shopper. */
import { storeResponse, type Visit } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { parseInput } from '#runtime/gateway/input'
import { jsonAnswer } from '#runtime/page'
import { z } from '#runtime/schema'
import { findPreviewByFormToken, isTrapped } from '../popup/public-popup.ts'
import type { PopupSettings, Prize } from '../popup/schema.ts'
import { popup } from '../popup/settings.ts'
import { type CaptureBody, captureBody } from '../schema.ts'
import type { PromisedCoupon } from './codes.ts'
import { issueImmediately } from './coupons.ts'
import { type Person, parsePerson } from './person.ts'
import { draw, retryOnConflict, type Subscription, subscribe } from './subscribe.ts'

interface SubscribeResult {
  status: 'subscribed' | 'already-subscribed'
  prize: Pick<Prize, 'id' | 'label'> | null
  coupon: (Pick<PromisedCoupon, 'type' | 'value' | 'expiresAt'> & { code: string | null }) | null
  /** True if the platform does not have the code yet, so that it is sent by email later. */
  couponPending: boolean
}

const plainResult: SubscribeResult = { status: 'subscribed', prize: null, coupon: null, couponPending: false }

/** Handles a submission. Refuses if the popup is off (404), and invalid fields (400). */
export async function submitPopup(ctx: Context, visit: Visit): Promise<Response> {
  const saved = await popup.getForShoppers(ctx)
  const given = await readObject(visit, saved.isEnabled)
  const preview = typeof given.token === 'string' ? await findPreviewByFormToken(ctx, given.token) : null
  if (!preview && !saved.isEnabled) throw nothingHere()
  const body = parseInput(captureBody, given, 'body') as CaptureBody
  const settings = preview ?? saved
  const trapped = isTrapped(ctx, body)
  const person = parsePerson(settings, body, ctx.store.country)
  if (trapped) return toResponse(plainResult)
  if (preview) return toResponse(await previewSubscription(ctx, settings))
  await visit.accepted()
  return storeSubscription(ctx, settings, person)
}

const toResponse = (told: SubscribeResult): Response =>
  jsonAnswer(told, told.status === 'already-subscribed' ? 200 : 201)

const nothingHere = () => refuse('not_found', 'There is nothing here')

const anyObject = z.record(z.unknown())

/** Reads the body. If the popup is off, an invalid body gets the 404 of a popup that is off. */
async function readObject(visit: Visit, isEnabled: boolean): Promise<Record<string, unknown>> {
  if (isEnabled) return visit.body(anyObject)
  return visit.body(anyObject).catch(() => {
    throw nothingHere()
  })
}

/** The result of a subscription in a preview, which stores nothing. */
async function previewSubscription(ctx: Context, settings: PopupSettings): Promise<SubscribeResult> {
  const { prize, coupon, code } = await draw(ctx, settings)
  return buildResult(settings, prize, coupon, code, false)
}

/**
 * Stores a subscription and creates its code, immediately if the platform is fast enough. The response shows the prize
 * and the code only once, so it is stored in the same transaction: a retry of the request gets the same response.
 */
async function storeSubscription(ctx: Context, settings: PopupSettings, person: Person): Promise<Response> {
  const { made: subscription, answer } = await retryOnConflict(ctx, async (tx) => {
    const subscription = await subscribe(tx, settings, person, { draws: true })
    if (subscription.isPending) return { made: subscription, answer: null }
    return {
      made: subscription,
      answer: await storeResponse(tx, toResponse(buildImmediateResult(settings, subscription))),
    }
  })
  const { subscriberId, prize, coupon, code } = subscription
  if (answer || coupon === null || code === null)
    return answer ?? toResponse(buildImmediateResult(settings, subscription))
  const emails = settings.couponDelivery !== 'screen' && person.email !== null
  const issued = await issueImmediately(ctx, subscriberId, { code, coupon }, { emails }, (tx) =>
    storeResponse(tx, toResponse(buildResult(settings, prize, coupon, code, false))),
  )
  return issued ?? toResponse(buildResult(settings, prize, coupon, null, true))
}

const buildImmediateResult = (
  settings: PopupSettings,
  { outcome, prize, coupon, code }: Subscription,
): SubscribeResult =>
  outcome === 'known'
    ? { ...plainResult, status: 'already-subscribed' }
    : buildResult(settings, prize, coupon, code, false)

function buildResult(
  { couponDelivery }: PopupSettings,
  prize: Pick<Prize, 'id' | 'label'> | null,
  coupon: PromisedCoupon | null,
  code: string | null,
  couponPending: boolean,
): SubscribeResult {
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
