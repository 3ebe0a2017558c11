/** Determines whether shoppers see the popup now (rule 4). */
import { publication } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { instant, object, z } from '#runtime/schema'
import type { PopupSettings } from './schema.ts'
import { popup } from './settings.ts'

export const publicationStatus = object({
  isEnabled: z.boolean(),
  isLive: z.boolean(),
  state: z.enum(['disabled', 'publishing', 'failed', 'not-installed', 'outside-schedule', 'live']),
  scriptUrl: z.string().describe('URL of the script on the pages of the store'),
  scriptId: z.string().nullable(),
  installedAt: instant.nullable(),
  lastSeenAt: instant.nullable().describe('When a storefront last asked for the script or the popup'),
  checkedAt: instant.nullable().describe('When the platform was asked'),
  message: z.string().nullable().describe('Why it failed, or what to do next'),
})

/** Reads the publication status from the platform. Throws `Unavailable` if it does not answer. Not inside a transaction. */
export async function readPublication(ctx: Context): Promise<z.infer<typeof publicationStatus>> {
  const settings = await popup.getEffective(ctx)
  const { state: script, installedAt, lastSeenAt, checkedAt, ...others } = await publication.readState(ctx)
  const state = !settings.isEnabled
    ? 'disabled'
    : script !== 'installed'
      ? script
      : getScheduleState(ctx, settings)
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

const getScheduleState = (ctx: Context, settings: PopupSettings) =>
  isScheduled(settings, ctx.now()) ? 'live' : 'outside-schedule'

/** Whether an instant is within the popup's schedule, which includes its start and excludes its end. */
export function isScheduled({ display }: PopupSettings, at: Date): boolean {
  const { startsAt, endsAt } = display
  return (startsAt === null || at >= new Date(startsAt)) && (endsAt === null || at < new Date(endsAt))
}
