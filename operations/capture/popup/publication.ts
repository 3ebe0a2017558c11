/** Whether shoppers see the popup now (rule 4). */
import { publication } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { instant, object, z } from '#runtime/schema'
import type { PopupSettings } from './schema.ts'
import { popup } from './settings.ts'

export const publicationStatus = object({
  isEnabled: z.boolean(),
  isLive: z.boolean(),
  state: z.enum(['disabled', 'publishing', 'failed', 'not-installed', 'outside-schedule', 'live']),
  scriptUrl: z.string().describe('What the pages of the store load'),
  scriptId: z.string().nullable(),
  installedAt: instant.nullable(),
  lastSeenAt: instant.nullable().describe('When a storefront last asked for the script or the popup'),
  checkedAt: instant.nullable().describe('When the platform was asked'),
  message: z.string().nullable().describe('Why it failed, or what there is to do'),
})

/** Asks the platform, so not inside a transaction; throws `Unavailable` where it does not answer. */
export async function publicationOf(ctx: Context): Promise<z.infer<typeof publicationStatus>> {
  const settings = await popup.inForce(ctx)
  const { state: script, installedAt, lastSeenAt, checkedAt, ...others } = await publication.stateOf(ctx)
  const state = !settings.isEnabled
    ? 'disabled'
    : script !== 'installed'
      ? script
      : scheduleState(ctx, settings)
  return {
    isEnabled: settings.isEnabled,
    isLive: state === 'live',
    state,
    ...others,
    installedAt: installedAt?.toISOString() ?? null,
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
    checkedAt: checkedAt?.toISOString() ?? null,
  }
}

const scheduleState = (ctx: Context, settings: PopupSettings) =>
  isScheduled(settings, ctx.now()) ? 'live' : 'outside-schedule'

/** Whether an instant lies within the popup's schedule. */
export function isScheduled({ display }: PopupSettings, at: Date): boolean {
  const { startsAt, endsAt } = display
  return (startsAt === null || at >= new Date(startsAt)) && (endsAt === null || at < new Date(endsAt))
}
