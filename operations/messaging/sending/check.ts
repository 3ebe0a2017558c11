/** Checks the preconditions of a message, except the quota, which `metering.reserve` checks (rules 1, 5, 6). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import { hasRoom } from '../numbers/limit.ts'
import { type Route, routeOrReason } from '../numbers/route.ts'
import { isOptedOut } from '../opt-outs/match.ts'
import { get as getTemplate, type Template } from '../templates/read.ts'
import type { PreconditionCode } from './codes.ts'
import { type Content, checkContent } from './deliver.ts'

export interface FailedPrecondition {
  code: PreconditionCode
  message: string
}

const windowMs = dayMs

const readRecipientState = prepared<
  { phoneKey: string },
  { opted_out: boolean; last_inbound_at: Date | null }
>((db, values) =>
  db.selectNoFrom((eb) => [
    isOptedOut(db, sql.val(values.phoneKey)).as('opted_out'),
    eb
      .selectFrom('contact_windows')
      .select('last_inbound_at')
      .where('phone_key', '=', values.phoneKey)
      .as('last_inbound_at'),
  ]),
)

/** Whether the 24-hour window to a phone is open on the official number. */
export async function isWindowOpen(ctx: Context, phone: string): Promise<boolean> {
  const [row] = await readRecipientState(ctx, { phoneKey: phoneKey(phone) })
  return isOpenAt(row?.last_inbound_at ?? null, ctx.now())
}

const isOpenAt = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs

/**
 * Returns the first unmet precondition, or null. Checks the connection, type, template, opt-out, window and number
 * limit, in this order. `via: 'official'` uses the official number, regardless of the selected connection (template
 * tests, the inbox). `isAnswer`: the section knows that the message replies to a person within their window, so the
 * opt-out and the window are not checked.
 */
export async function check(
  ctx: Context,
  message: { phone: string; content: Content; via?: 'official'; isAnswer?: boolean },
): Promise<FailedPrecondition | null> {
  const route = await checkRoute(ctx, message.via)
  if ('code' in route) return route
  const { content } = message
  const template = content.kind === 'template' ? await getTemplate(ctx, content.templateId) : null
  const unfit = checkContent(route.connection.type, content, template)
  return unfit ?? (message.isAnswer ? null : checkRecipient(ctx, route, template, message))
}

/** Returns the route that a message would take, or why there is none. */
export async function checkRoute(ctx: Context, via?: 'official'): Promise<Route | FailedPrecondition> {
  const found = await routeOrReason(ctx, via)
  if (found === 'not-connected') return { code: found, message: 'No number that can send is connected' }
  if (found === 'subscription-inactive') {
    return { code: found, message: 'The plan does not include the official number' }
  }
  return found
}

/** Checks the person: opt-out, window, number limit. */
export async function checkRecipient(
  ctx: Context,
  { connection }: Route,
  template: Template | null,
  { phone }: { phone: string },
): Promise<FailedPrecondition | null> {
  const [row] = await readRecipientState(ctx, { phoneKey: phoneKey(phone) })
  const isUtility = template?.status === 'approved' && template.category === 'utility'
  if (row!.opted_out && !isUtility) {
    return { code: 'opted-out', message: `${phone} does not want messages any more` }
  }
  if (connection.type !== 'official' || isOpenAt(row!.last_inbound_at, ctx.now())) return null
  if (!template) {
    return {
      code: 'window-closed',
      message: `${phone} has not written in the last 24 hours: send an approved template`,
    }
  }
  if (await hasRoom(ctx, connection.numberId, phone)) return null
  return {
    code: 'number-limit',
    message: 'The number has written to as many people in 24 hours as it may: try again later',
  }
}
