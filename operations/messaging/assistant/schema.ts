import { count, day, id, instant, line, named, object, wholeListOf, z } from '#runtime/schema'

export const connectCode = named(
  'ConnectCode',
  object({
    code: z.string().describe('Shown this once'),
    phone: z.string().nullable().describe('Who may use it; null: anyone with the code'),
    name: z.string(),
    assistantPhone: z.string(),
    link: z.string().describe('Opens a chat with the code typed in'),
    expiresAt: instant,
    createdAt: instant,
  }),
)

export const connectCodeInput = object({
  name: line(1, 60).optional().describe("Default: the member's name"),
  phone: z.string().min(1).max(40).nullable().optional().describe('Left out: anyone with the code'),
})

const binding = named(
  'Binding',
  object({
    phone: z.string(),
    name: z.string(),
    member: object({ userId: id, name: z.string() }),
    pairedAt: instant,
    lastUsedAt: instant.nullable(),
    requests: count.describe('In this period'),
  }),
)
export const bindings = wholeListOf(binding)

export const agentUsage = named(
  'AgentUsage',
  object({
    periodStart: instant,
    periodEnd: instant,
    limit: count,
    used: count,
    remaining: count,
    bindings: count,
    byDay: z.array(object({ date: day, requests: count })),
  }),
)
