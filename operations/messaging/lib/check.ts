/** Whether a message may leave now: everything but the quota, which `metering.reserve` knows (Rules 1, 5, 6). */
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/phone'
import { prepared } from '#runtime/query'
import { routeFor } from './route.ts'
import { type Content, unfitFor } from './sending.ts'
import { type Template, get as templateOf } from './templates.ts'

export interface Objection {
  /** Of Rules 5, and `opted-out`, `not-connected`. */
  code: string
  message: string
}

const windowMs = 24 * 3_600_000

const standing = prepared<{ phoneKey: string }, { opted_out: boolean; last_inbound_at: Date | null }>(
  (db, values) =>
    db.selectNoFrom((eb) => [
      eb
        .exists(eb.selectFrom('opt_outs').select('id').where('phone_key', '=', values.phoneKey))
        .$castTo<boolean>()
        .as('opted_out'),
      eb
        .selectFrom('contact_windows')
        .select('last_inbound_at')
        .where('phone_key', '=', values.phoneKey)
        .as('last_inbound_at'),
    ]),
)

/** Whether the 24-hour window to a phone is open on the official number. */
export async function isWindowOpen(ctx: Context, phone: string): Promise<boolean> {
  const [row] = await standing(ctx, { phoneKey: phoneKey(phone) })
  return isOpenAt(row?.last_inbound_at ?? null, ctx.now())
}

const isOpenAt = (lastInboundAt: Date | null, now: Date): boolean =>
  lastInboundAt !== null && now.getTime() < lastInboundAt.getTime() + windowMs

/**
 * Null, or the first of what speaks against it: connection, type, template, opt-out, window. `via` official: whatever
 * is selected (template tests, the inbox). `ignoreOptOut`: an answer to who wrote first.
 */
export async function check(
  ctx: Context,
  message: { phone: string; content: Content; via?: 'official'; ignoreOptOut?: boolean },
): Promise<Objection | null> {
  const route = await routeFor(ctx, message.via)
  if (!route) return { code: 'not-connected', message: 'No number that can send is connected' }
  const { content, phone } = message
  const { type } = route.connection
  const template = content.kind === 'template' ? await templateOf(ctx, content.templateId) : null
  const unfit = unfitFor(type, content, template)
  if (unfit) return unfit
  const [row] = await standing(ctx, { phoneKey: phoneKey(phone) })
  if (row!.opted_out && !message.ignoreOptOut && !isUtility(content, template)) {
    return { code: 'opted-out', message: `${phone} does not want messages any more` }
  }
  if (type === 'official' && content.kind !== 'template' && !isOpenAt(row!.last_inbound_at, ctx.now())) {
    return {
      code: 'window-closed',
      message: `${phone} has not written in the last 24 hours: send an approved template`,
    }
  }
  return null
}

const isUtility = (content: Content, template: Template | null): boolean =>
  content.kind === 'template' && template?.status === 'approved' && template.category === 'utility'
