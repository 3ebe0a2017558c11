import { scheduleFields, targetingFields } from '#operations/storefront/index'
import { distinctList } from '#runtime/distinct-list'
import { count, day, freeObject, id, instant, line, named, object, writeBody, z } from '#runtime/schema'
import { anyDesign, blockTypes } from './designs.ts'

const blockStatus = z
  .enum(['active', 'paused', 'scheduled', 'ended'])
  .describe('As of now: what the dates and isActive make of it')
export const blockType = z.enum(blockTypes)

const position = z.number().int().min(1)

const plainFields = {
  name: line(1, 120).describe('For you alone; shoppers do not see it'),
  ...targetingFields,
  ...scheduleFields,
  placement: z.enum(['below-price', 'below-buy-button', 'below-description', 'page-bottom']),
  device: z.enum(['all', 'mobile', 'desktop']),
}

const designInput = freeObject.describe(
  'By type, with the fields of ContentBlock.design; what is left out keeps its value or gets its default',
)

export const contentBlock = named(
  'ContentBlock',
  object({
    id,
    type: blockType,
    design: anyDesign,
    ...plainFields,
    startsAt: instant.nullable(),
    endsAt: instant.nullable(),
    isActive: z.boolean(),
    priority: position.describe('Place among the blocks, 1 first, without gaps'),
    status: blockStatus,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['status'] },
)

const keys = Object.keys(contentBlock.shape)
const writable = { ...plainFields, type: blockType, design: designInput }
const ignoredBut = (fields: object): string[] => keys.filter((key) => !(key in fields))

export const newBlock = writeBody(writable, ignoredBut(writable), ['name', 'type', 'design'])
const changed = { id: z.string().max(64), ...writable }
export const changedBlock = writeBody(changed, ignoredBut(changed), ['id'])
const moved = { id: z.string().max(64), isActive: z.boolean(), priority: position }
export const movedBlock = writeBody(moved, ignoredBut(moved), ['id'])

export type NewBlock = z.infer<typeof newBlock>
export type BlockChange = Partial<Omit<z.infer<typeof changedBlock>, 'id'>>

export const reordered = object({
  ids: distinctList(z.array(z.string().max(64)).min(1).max(100), 'must not name an id twice'),
})
export const newOrder = object({ data: z.array(object({ id, priority: position })) })

const rate = z.number().nullable().describe('Clicks for 100 impressions; null without impressions')
const counted = { impressions: count, clicks: count }
export const blockStats = object({
  startDate: day,
  endDate: day,
  totals: object({ ...counted, clickRate: rate }),
  data: z.array(
    object({
      blockId: id,
      name: z.string(),
      type: blockType,
      isActive: z.boolean(),
      ...counted,
      clickRate: rate,
    }),
  ),
  series: z.array(object({ date: day, ...counted })),
})
