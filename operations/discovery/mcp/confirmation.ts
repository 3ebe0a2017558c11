/**
 * Asks the merchant before a write with consequences (messages, money, access, what cannot be undone), if the client can
 * show a question (elicitation). The question has the figures of the operation's previews.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { ApiError } from '#runtime/errors'
import type { LoadedOperation } from '#runtime/registry/loaded'
import type { Consequence } from '#runtime/roles'
import { z } from '#runtime/schema'
import { truncate } from '#runtime/values/truncate'
import type { Caller, Request } from './caller.ts'
import { listConsequences, listLookFirst } from './consequences.ts'

/** The part of a tool call that describes its client. */
export type ConfirmingClient = Pick<ServerContext['mcpReq'], 'envelope' | 'inputResponses'>

const questions: Record<Consequence, string> = {
  messages: 'It writes to customers.',
  money: 'It costs money.',
  access: 'It changes who has access to the store.',
  deletion: 'It deletes data.',
  final: 'It cannot be undone.',
}
/** The envelope of a client that shows questions to its user. */
const canAsk = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.object({ elicitation: z.object({}) }) })
const key = 'confirm'
const previewsAtMost = 3
const factsAtMost = 12

/**
 * Returns the question to the merchant; null if none is needed: the write can be undone, the client cannot ask, or the
 * merchant has agreed. Throws `forbidden` if the merchant declined.
 */
export async function askMerchant(
  caller: Caller,
  operation: LoadedOperation,
  request: Request,
  { envelope, inputResponses }: ConfirmingClient,
): Promise<InputRequiredResult | null> {
  const consequences = listConsequences(operation.spec)
  if (consequences.length === 0 || !canAsk.safeParse(envelope).success) return null
  const response = inputResponse(inputResponses, key)
  if (response.kind === 'elicit') {
    if (response.action === 'accept' && response.content?.confirm === true) return null
    throw new ApiError('forbidden', 'The merchant did not agree: nothing was done')
  }
  const facts = await previewFacts(caller, operation, request)
  const message = [operation.spec.description, ...consequences.map((each) => questions[each]), ...facts]
  return inputRequired({
    inputRequests: {
      [key]: inputRequired.elicit({
        mode: 'form',
        message: message.join('\n'),
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Go ahead' } },
          required: ['confirm'],
        },
      }),
    },
  })
}

/** Runs the operation's previews and returns their figures, such as recipients and cost, a line each. */
async function previewFacts(caller: Caller, operation: LoadedOperation, request: Request): Promise<string[]> {
  const facts: string[] = []
  for (const id of listLookFirst(operation.spec).slice(0, previewsAtMost)) {
    const preview = caller.registry.byId(id)
    if (!preview) continue
    const answer = await caller.run(preview, { path: request.path, query: {}, body: undefined })
    if (answer.status === 200) facts.push(...listFacts(JSON.parse(answer.body)))
  }
  return facts.slice(0, factsAtMost)
}

/** Lists a resource's name and its figures, also those one level down: `recipients: 120`, `messages.left: 4000`. */
const listFacts = (body: Record<string, unknown>, prefix = ''): string[] =>
  Object.entries(body).flatMap(([name, value]) => {
    if (typeof value === 'number') return [`${prefix}${name}: ${value}`]
    if (name === 'name' && typeof value === 'string') return [`${prefix}${name}: ${truncate(value, 100)}`]
    const isNested = prefix === '' && typeof value === 'object' && value !== null && !Array.isArray(value)
    return isNested ? listFacts(value as Record<string, unknown>, `${name}.`) : []
  })
