/** Sends test messages of an automation. */
import { checkRoute, isWindowOpen, type sending, sendOne, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import { requirePhone } from '#runtime/values/phone'
import { automationNotFound, getAutomation } from '../automations.ts'
import {
  buildCashbackCoupon,
  calculateCashback,
  generateCouponCode,
  getCouponEnd,
} from '../deciding/coupon-codes.ts'
import type { CartFacts, IssuedCoupon, OrderFacts } from '../deciding/facts.ts'
import { chooseMessage, renderMessage } from '../deciding/message.ts'
import { findNewestCart, findNewestOrder } from '../deciding/newest.ts'
import { buildValues } from '../deciding/values.ts'
import { findCouponBefore } from '../flow.ts'
import { type CashbackSettings, kinds } from '../kinds.ts'
import type { AutomationMessage, AutomationRow, CouponSpec } from '../types.ts'

/**
 * Sends the first message, or the message of `stepId`, with the store's newest cart or order and a made-up code for
 * the coupon that is issued before that message.
 * Returns a SentMessage, and refuses for the same reasons as a single message. Call it outside any transaction.
 */
export async function sendTest(
  ctx: Context,
  id: string,
  { phone: typed, stepId }: { phone: string; stepId: string | null },
): Promise<JsonText> {
  const automation = await getAutomation(ctx, id)
  if (!automation) throw automationNotFound()
  const message = findMessage(automation, stepId)
  const phone = requirePhone(typed, ctx.store.country)
  const route = await checkRoute(ctx)
  if ('code' in route) {
    throw refuse(route.code === 'subscription-inactive' ? 'forbidden' : 'conflict', route.message)
  }
  const { type } = route.connection
  const templateId = message.officialapiTemplateId
  const template = templateId === null ? null : await templates.get(ctx, templateId)
  const choice = chooseMessage(message, type, template, await isWindowOpen(ctx, phone))
  if (choice.kind === 'held') {
    throw refuse('conflict', `The template ${template!.name} is ${template!.status}: it must be approved`)
  }
  if (choice.kind === 'failed') throw refuse('conflict', choice.reason)
  const subject = await findSubject(ctx, automation, stepId)
  const values = buildValues(
    {
      ...subject,
      person: { name: subject.name, phone, email: subject.email },
    },
    ctx.store,
    ctx.now(),
  )
  const rendered = renderMessage(message, choice.kind === 'template' ? choice.template : null, type, values)
  if (rendered.kind === 'failed') throw refuse('conflict', rendered.reason)
  const content: sending.Content = rendered.content
  return sendOne(ctx, { purpose: 'automation-test', phone, name: subject.name, content })
}

function findMessage({ message, flow }: AutomationRow, stepId: string | null): AutomationMessage {
  if (stepId === null) return message
  const step = flow?.steps.find((each) => each.id === stepId)
  if (!step) throw refuse('not_found', `stepId: the flow has no step ${stepId}`)
  if (step.type !== 'message') throw refuse('bad_request', `stepId: ${stepId} is no message`)
  return step.message
}

interface TestSubject {
  name: string | null
  email: string | null
  order: OrderFacts | null
  cart: CartFacts | null
  coupon: IssuedCoupon
  cashback: IssuedCoupon | null
}

async function findSubject(
  ctx: Context,
  automation: AutomationRow,
  stepId: string | null,
): Promise<TestSubject> {
  const isCart = kinds[automation.type].entityType === 'cart'
  const cart = isCart ? await findNewestCart(ctx) : null
  const order = isCart || automation.type === 'birthday' ? null : await findNewestOrder(ctx)
  const person = cart ?? order
  const cashback = findCashback(ctx, automation, order?.facts ?? null)
  const ofStep = stepId !== null && automation.flow ? findCouponBefore(automation.flow, stepId) : null
  const first = cashback ?? automation.coupon ?? sampleCoupon
  return {
    name: person?.name ?? null,
    email: person?.email ?? null,
    order: order?.facts ?? null,
    cart: cart?.facts ?? null,
    coupon: buildSampleCoupon(ctx, ofStep ?? first),
    cashback: cashback && buildSampleCoupon(ctx, cashback),
  }
}

const sampleCoupon: CouponSpec = {
  type: 'percentage',
  value: 10,
  prefix: 'TEST',
  minimumAmount: null,
  validDays: 7,
}

function findCashback(
  ctx: Context,
  { type, settings }: AutomationRow,
  order: OrderFacts | null,
): CouponSpec | null {
  if (type !== 'cashback') return null
  const cashback = settings as unknown as CashbackSettings
  return buildCashbackCoupon(cashback, order ? calculateCashback(ctx.store.currency, order, cashback) : 0)
}

const buildSampleCoupon = (ctx: Context, { type, value, validDays }: CouponSpec): IssuedCoupon => ({
  stepId: '',
  code: generateCouponCode('TEST'),
  type,
  value,
  endsAt: getCouponEnd(validDays, ctx.now(), ctx.store.timezone),
  isMade: true,
})
