/** Sample operations, which together use everything that an operation can declare. */
import { type Operation, operation, z } from '#runtime/operation'
import type { Registry } from '#runtime/registry/loaded'
import { loadOperation } from '#runtime/registry/registry'
import {
  colour,
  count,
  currency,
  day,
  email,
  freeObject,
  httpsUrl,
  id,
  instant,
  line,
  listOf,
  money,
  named,
  object,
  paging,
  percent,
  queryFlag,
  queryInt,
  queryList,
  queued,
  text,
  writeBody,
} from '#runtime/schema'
import { type Section, section } from '#runtime/section'

const maker = named(
  'Maker',
  object({ name: line(1, 80), email: email.nullable(), site: httpsUrl.optional() }),
)

const writable = {
  name: line(1, 80).describe('Shown to shoppers'),
  note: text(0, 500).nullable(),
  kind: z.enum(['round', 'square']).default('round'),
  price: money,
  currency,
  tint: colour.nullable(),
  share: percent,
  tags: z.array(line(1, 20)).max(10),
  maker: maker.nullable(),
  startsOn: day.nullable(),
}

const gadget = named(
  'Gadget',
  object({
    id,
    ...writable,
    makers: z.array(maker),
    byColour: z.record(z.enum(['red', 'blue']), count),
    sold: count,
    createdAt: instant,
    updatedAt: instant,
  }),
)
const readOnly = ['id', 'makers', 'byColour', 'sold', 'createdAt', 'updatedAt']

const shape = z.discriminatedUnion('type', [
  named('Circle', object({ type: z.literal('circle'), radius: z.number().positive().lt(100) })),
  named(
    'Corners',
    object({ type: z.literal('corners'), points: z.array(z.tuple([z.number().int(), z.number()])).min(3) }),
  ),
])

const nothing = () => {
  throw new Error('made up: it is never run')
}

const operations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/gadgets',
    description: 'List the gadgets, newest first.',
    scopes: ['platform:read'],
    readOnly: true,
    feature: 'gadgets',
    input: {
      query: object({
        ...paging,
        since: day.describe('From this day on'),
        kinds: queryList(z.enum(['round', 'square'])).optional(),
        sold: queryFlag.optional(),
        least: queryInt(0, 9).optional(),
      }),
    },
    answer: { status: 200, body: listOf(gadget), description: 'The gadgets.' },
    example: { query: { since: '2026-11-01', kinds: ['round', 'square'] } },
    handler: nothing,
  }),
  operation({
    method: 'POST',
    path: '/gadgets',
    description: 'Make a gadget.',
    details: 'It is not shown before it has a price.',
    scopes: ['platform:write'],
    readOnly: false,
    input: { body: writeBody(writable, readOnly, ['name']) },
    answer: { status: 201, body: gadget },
    refuses: { conflict: 'A gadget has this name already' },
    etag: true,
    handler: nothing,
  }),
  operation({
    method: 'GET',
    path: '/gadgets/:id',
    description: 'Get a gadget.',
    scopes: ['platform:read'],
    readOnly: true,
    answer: { status: 200, body: gadget },
    refuses: { not_found: 'No such gadget' },
    etag: true,
    handler: nothing,
  }),
  operation({
    method: 'PATCH',
    path: '/gadgets/:id',
    description: 'Change a gadget; fields left out keep their value.',
    scopes: ['platform:write', 'integrations:write'],
    readOnly: false,
    input: { body: writeBody(writable, readOnly).refine((body) => Object.keys(body).length < 50) },
    answer: { status: 200, body: gadget },
    etag: true,
    ifMatch: ['/gadgets/:id'],
    handler: nothing,
  }),
  operation({
    method: 'DELETE',
    path: '/gadgets/:id',
    description: 'Remove a gadget.',
    scopes: ['platform:write'],
    readOnly: false,
    answer: { status: 204 },
    handler: nothing,
  }),
  operation({
    method: 'POST',
    path: '/gadgets/:id/screws/:screwId/tighten',
    description: 'Tighten a screw of a gadget in the background.',
    scopes: ['platform:write', 'team:write'],
    readOnly: false,
    input: {
      params: { screwId: 'The screw, as the gadget names it' },
      body: object({ turns: z.number().int().min(1).max(9).optional() }),
    },
    answer: { status: 202, body: queued({ screws: count }) },
    monitor: '/gadgets/:id',
    handler: nothing,
  }),
  operation({
    method: 'PUT',
    path: '/gadget-shape',
    description: 'Set the shape of all gadgets.',
    scopes: ['platform:write'],
    readOnly: false,
    minimumRole: 'owner',
    input: { body: shape },
    answer: { status: 200, body: object({ shape, previous: shape.nullable(), extra: z.unknown() }) },
    handler: nothing,
  }),
  operation({
    method: 'PATCH',
    path: '/gadget-preferences',
    description: 'Merge preferences of any form into those there are.',
    deprecated: { since: '2026-11-20', sunset: '2027-05-01', link: '/docs/guides/clients' },
    scopes: ['platform:write'],
    readOnly: false,
    input: { body: freeObject },
    answer: { status: 200, body: freeObject },
    example: { body: { theme: { dark: true } }, answer: { theme: { dark: true } } },
    handler: nothing,
  }),
  operation({
    method: 'GET',
    path: '/gadget-weather',
    description: 'Get the weather that gadgets like.',
    scopes: [],
    readOnly: true,
    public: 'The weather is no secret.',
    answer: { status: 200, body: object({ sunny: z.boolean() }) },
    etag: true,
    cache: 'public, max-age=60',
    handler: nothing,
  }),
]

const sampleSection: Section = section({
  title: 'Gadgets',
  description: 'Things that do not exist.',
  position: 99,
  order: [],
})

export const sampleOperations = operations.map((each, at) =>
  loadOperation(`operations/gadgets/made-up-${at}.ts`, sampleSection, each),
)

/** The registry with the sample operations appended. */
export const withSampleOperations = (registry: Registry): Registry => ({
  ...registry,
  operations: [...registry.operations, ...sampleOperations],
  sections: [...registry.sections, sampleSection],
})
