/**
 * Checks the preconditions of sending a campaign (rule 2). If one is not met, an operation refuses, and a job fails or
 * pauses the campaign.
 */
import { sql } from 'kysely'
import { isOptedOut, sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { countOptedOut } from '../opt-outs/count.ts'
import type { CampaignContent } from '../schema.ts'
import {
  buildValues,
  type Connection,
  type Recipient,
  type Rendered,
  renderMessage,
  type Template,
  takesMedia,
} from './render.ts'

/** A precondition that is not met. A job records `reason`; an operation responds with `message`. */
export interface UnmetPrecondition {
  reason:
    | 'empty-audience'
    | 'list-busy'
    | 'connection-lost'
    | 'template-unavailable'
    | 'subscription-inactive'
    | 'content-unfit'
  message: string
}

/** The connection and the template that a campaign is sent with. */
export interface SendContext {
  connection: Connection
  template: Template | null
}

const noConnection: UnmetPrecondition = {
  reason: 'connection-lost',
  message: 'No messaging connection can send: connect or select one first',
}

export const toConflict = (problem: UnmetPrecondition) => refuse('conflict', problem.message)

/** Checks content, connection and template (rule 2c, d), in that order. */
export async function findSendContext(
  ctx: Context,
  content: CampaignContent,
): Promise<SendContext | UnmetPrecondition> {
  const isTemplate = content.type === 'template'
  const id = content.officialapiTemplateId
  const template = isTemplate && id !== null ? await templates.get(ctx, id) : null
  const unfinished = isTemplate ? findTemplateIssue(content, template) : findTextIssue(content)
  if (unfinished) return { reason: 'template-unavailable', message: unfinished }
  const connection = await sending.findSelected(ctx)
  if (!connection) return noConnection
  const unfit = findConnectionIssue(content, connection)
  if (unfit) return { reason: 'connection-lost', message: unfit }
  if (template && template.status !== 'approved') {
    return {
      reason: 'template-unavailable',
      message: `The template ${template.name} is ${template.status}: only an approved one can be sent`,
    }
  }
  return { connection, template }
}

export const isUnmet = (found: SendContext | UnmetPrecondition): found is UnmetPrecondition =>
  'reason' in found

/**
 * Throws `conflict` for an unmet precondition. `hasBegun`: messages have left, so that the campaign itself can no longer
 * be changed.
 */
export async function requireSendContext(
  ctx: Context,
  content: CampaignContent,
  { hasBegun = false } = {},
): Promise<SendContext> {
  const found = await findSendContext(ctx, content)
  if (!isUnmet(found)) return found
  if (!hasBegun || found === noConnection) throw toConflict(found)
  throw refuse(
    'conflict',
    `${found.message}. A campaign that has begun cannot be changed: duplicate it instead`,
  )
}

const findTextIssue = (content: CampaignContent): string | null =>
  content.text === null || content.text.trim() === ''
    ? 'The campaign has no text yet: write content.text first'
    : null

function findTemplateIssue(content: CampaignContent, template: Template | null): string | null {
  if (content.officialapiTemplateId === null) {
    return 'The campaign has no template yet: choose content.officialapiTemplateId first'
  }
  if (!template) return 'The template of the campaign is no longer there: choose another one'
  const issue = templates.describeMiscount(template, content.templateParameters)
  if (issue) return `content.templateParameters.${issue.part}: ${issue.fault}`
  if (takesMedia(template) && content.media?.type !== template.header?.type) {
    return `content.media: the template ${template.name} needs a media of type ${template.header?.type} for its header`
  }
  return null
}

function findConnectionIssue(content: CampaignContent, connection: Connection): string | null {
  if (content.type === 'template') {
    return connection.type === 'official'
      ? null
      : 'Templates leave through an official number only: select it, or write a text'
  }
  if (connection.type === 'official') {
    return 'A text would be refused over the official number: choose an approved template, or select another connection'
  }
  if (connection.type === 'shared' && content.media) {
    return 'The shared number takes no media: remove content.media, or select another connection'
  }
  return null
}

interface Audience {
  size: number
  opted_out: number
  importing: boolean
}

const findListAudience = prepared<{ id: string }, Audience>((db, values) =>
  db
    .selectFrom('contact_lists as l')
    .select((eb) => [
      'l.size',
      countOptedOut(db, sql.ref('l.id'), sql.ref('l.size')).as('opted_out'),
      eb
        .exists(
          eb
            .selectFrom('list_imports as i')
            .select('i.id')
            .where('i.list_id', '=', values.id)
            .where('i.status', 'in', ['queued', 'running']),
        )
        .$castTo<boolean>()
        .as('importing'),
    ])
    .where('l.id', '=', values.id),
)

/**
 * Contacts per page, and maximum number of pages, when looking for a contact who would get the message. If none is among
 * them, the campaign may start, and its result shows whether anybody got it.
 */
const pageSize = 200
const maxPages = 10

/** Finds why no reachable contact would get the message; null if at least one would. */
export async function findNobodyReason(
  ctx: Context,
  listId: string,
  content: CampaignContent,
  template: Template | null,
  connection: Connection | null,
): Promise<NonNullable<Rendered['skip']> | null> {
  let reason: Rendered['skip'] = null
  let after: string | null = null
  for (let part = 0; part < maxPages; part += 1) {
    const contacts = await readReachable(ctx, listId, after)
    for (const contact of contacts) {
      const { skip } = renderMessage(content, template, connection, buildValues(contact, ctx.store))
      if (!skip) return null
      reason ??= skip
    }
    if (contacts.length < pageSize) return reason
    after = contacts.at(-1)!.id
  }
  return null
}

async function readReachable(
  ctx: Context,
  listId: string,
  after: string | null,
): Promise<(Recipient & { id: string })[]> {
  const rows = await ctx.db
    .selectFrom('list_contacts as x')
    .select(['x.id', 'x.phone', 'x.name', 'x.email', 'x.custom_fields'])
    .where('x.list_id', '=', listId)
    .$if(after !== null, (query) => query.where('x.id', '>', after!))
    .where(({ not }) => not(isOptedOut(ctx.db, sql.ref('x.phone_key'))))
    .orderBy('x.id')
    .limit(pageSize)
    .execute()
  return rows as (Recipient & { id: string })[]
}

/** Counts the reachable contacts. It is an unmet precondition if none of them would get the message (rule 2e). */
export async function findAudience(
  ctx: Context,
  listId: string,
  content: CampaignContent,
  { template, connection }: SendContext,
): Promise<{ reachable: number } | UnmetPrecondition> {
  const found = await findReachable(ctx, listId)
  if ('reason' in found) return found
  const reason = await findNobodyReason(ctx, listId, content, template, connection)
  return reason ? { reason: 'content-unfit', message: nobodyMessages[reason] } : found
}

const nobodyMessages: Record<NonNullable<Rendered['skip']>, string> = {
  'too-long':
    'content: with its values filled in it is too long for everybody on the list, over the connection that is selected: shorten it',
  'missing-variable':
    'content: a variable that it cannot do without has no value for anybody on the list: give it a fallback, as in {{name|friend}}',
}

/** Counts the contacts of the list that can be reached now (rule 2e). */
async function findReachable(
  ctx: Context,
  listId: string | null,
): Promise<{ reachable: number } | UnmetPrecondition> {
  const [list] = listId === null ? [] : await findListAudience(ctx, { id: listId })
  if (list?.importing) {
    return {
      reason: 'list-busy',
      message: 'Contacts are being imported into the list: wait until it is done',
    }
  }
  const reachable = list ? list.size - list.opted_out : 0
  if (reachable <= 0) {
    const why = list && list.size > 0 ? 'all its contacts are opted out' : 'it has no contacts'
    return {
      reason: 'empty-audience',
      message: `Nobody on the list can be reached, ${why}: add contacts first`,
    }
  }
  return { reachable }
}
