/** Job handles of campaigns: each queue's name and its payload. */
import { exports } from '#operations/store/index'
import { handle } from '#runtime/jobs/handle'
import { id, instant, object, z } from '#runtime/schema'

export const campaignStart = handle('campaign-start', object({ campaignId: id, scheduledAt: instant }))

export const listImport = handle('list-import', object({ importId: z.string(), listId: z.string() }))

export const contactsExport = exports.handle('contacts-export')

export const campaignMessageSend = handle(
  'campaign-message-send',
  object({
    campaignId: id,
    messageId: id,
    hasPlace: z.boolean().default(false),
    troubleSince: z.number().nullable().default(null),
  }),
)

export const campaignPurge = handle('campaign-purge', object({ campaignId: id }))

export const campaignSend = handle(
  'campaign-send',
  object({
    campaignId: id,
    places: z
      .number()
      .int()
      .min(0)
      .default(0)
      .describe('Rate slots of the number that are already reserved for it'),
  }),
)
