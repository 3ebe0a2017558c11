/** Creates a template and submits it to the provider. */

import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { readPages } from '#runtime/ports/pagination'
import { withProviderTimeout } from '../numbers/provider-timeout.ts'
import type { Route } from '../numbers/route.ts'
import type { TemplateContent, TemplateStatus } from '../provider/template-port.ts'
import { headerUses, requireHeaderFile } from './header-media.ts'
import { requireOfficialRoute } from './route.ts'
import { toColumns } from './rows.ts'
import { buildContent, isSameToReaders, refuseInvalid } from './rules.ts'
import type { TemplateChange } from './schema.ts'
import { toFileOwner } from './transitions.ts'

const maxTemplates = 250
const maxCreatedPerHour = 100
/** A submission that takes longer belongs to a dead process. */
const creationTimeoutMs = minuteMs
const providerTimeoutMs = 20_000

/** Refuses content that breaks the rules, a name that is taken or blocked, and too many templates. Returns the new id. */
export async function createTemplate(
  ctx: Context,
  input: TemplateChange & { name: string; language: string; category: string; body: string },
): Promise<number> {
  const content = buildContent(input, ctx.store.country)
  refuseInvalid(content)
  const route = await requireOfficialRoute(ctx)
  await requireHeaderFile(ctx, content.header)
  const creation = await openCreation(ctx, content)
  try {
    const handedInAt = ctx.now()
    const { providerId, status } = await submit(route, content)
    return await ctx.transaction(async (tx) => {
      const id = await insertTemplate(tx, content, providerId, status, handedInAt)
      await closeCreation(tx, creation)
      return id
    })
  } catch (error) {
    // The creation no longer counts against the limits: nothing was created, or the template existed already.
    await ctx.db.deleteFrom('message_template_creations').where('id', '=', creation).execute()
    if (error instanceof Refused) throw refuse('bad_request', `The provider refused it: ${error.message}`)
    throw error
  }
}

const toNameTaken = ({ name, language }: TemplateContent) =>
  refuse('conflict', `There is a template ${name} in ${language} already`)

/** Records a creation before the provider is asked, so that parallel requests never exceed a limit together. */
async function openCreation(ctx: Context, { name, language }: TemplateContent): Promise<string> {
  return ctx.transaction(async (tx) => {
    await tx.lockStore()
    const now = tx.now()
    const ago = (ms: number) => new Date(now.getTime() - ms)
    await tx.db.deleteFrom('message_template_creations').where('created_at', '<=', ago(hourMs)).execute()
    const facts = await tx.db
      .selectNoFrom((eb) => [
        eb
          .selectFrom('message_templates')
          .select((e) => e.fn.countAll<number>().as('n'))
          .as('templates'),
        eb
          .selectFrom('message_template_creations')
          .select((e) => e.fn.countAll<number>().as('n'))
          .where('is_open', '=', true)
          .where('created_at', '>', ago(creationTimeoutMs))
          .as('open'),
        eb
          .selectFrom('message_template_creations')
          .select((e) => e.fn.countAll<number>().as('n'))
          .as('lately'),
        eb
          .exists(
            eb
              .selectFrom('message_templates')
              .select('id')
              .where('name', '=', name)
              .where('language', '=', language),
          )
          .$castTo<boolean>()
          .as('is_taken'),
        eb
          .selectFrom('message_template_names')
          .select('free_at')
          .where('name', '=', name)
          .where('language', '=', language)
          .where('free_at', '>', now)
          .as('free_at'),
      ])
      .executeTakeFirstOrThrow()
    if (facts.is_taken) throw refuse('conflict', `There is a template ${name} in ${language} already`)
    if (facts.free_at) {
      throw refuse(
        'conflict',
        `A template ${name} in ${language} was deleted: the name is free again at ${facts.free_at.toISOString()}`,
      )
    }
    if ((facts.templates ?? 0) + (facts.open ?? 0) >= maxTemplates) {
      throw refuse('conflict', `There are ${maxTemplates} templates, which is the most: delete one first`)
    }
    if ((facts.lately ?? 0) >= maxCreatedPerHour) {
      throw refuseTemporarily(
        'conflict',
        `${maxCreatedPerHour} templates were created in the last hour, which is the most: try again later`,
      )
    }
    const id = tx.newId()
    await tx.db
      .insertInto('message_template_creations')
      .values({ id, created_at: now, is_open: true })
      .execute()
    return id
  })
}

async function closeCreation(tx: Context, id: string): Promise<void> {
  await tx.db.updateTable('message_template_creations').set({ is_open: false }).where('id', '=', id).execute()
}

/**
 * Submits the template. If the provider has a template with the same content, the response to an earlier submission was
 * lost, and that template is adopted.
 */
async function submit(
  { port, store }: Route,
  content: TemplateContent,
): Promise<{ providerId: string; status: TemplateStatus }> {
  try {
    return await withProviderTimeout(port.createTemplate(store, content), providerTimeoutMs)
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'template-exists') throw error
    const read = (cursor: string | null) =>
      withProviderTimeout(port.listTemplates(store, cursor ?? undefined), providerTimeoutMs)
    for await (const { templates } of readPages(read, ({ next }) => next)) {
      const found = templates.find((each) => each.name === content.name && each.language === content.language)
      if (found) {
        const { providerId, status, rejectionReason: _r, quality: _q, pausedUntil: _p, ...theirs } = found
        if (isSameToReaders(theirs, content)) return { providerId, status }
        break
      }
    }
    throw toNameTaken(content)
  }
}

async function insertTemplate(
  tx: Context,
  content: TemplateContent,
  providerId: string,
  status: TemplateStatus,
  handedInAt: Date,
): Promise<number> {
  const now = tx.now()
  const isReviewed = status !== 'pending'
  const made = await tx.db
    .insertInto('message_templates')
    .values({
      provider_id: providerId,
      name: content.name,
      language: content.language,
      ...toColumns(content),
      status,
      was_approved: status === 'approved',
      submitted_at: handedInAt,
      reviewed_at: isReviewed ? now : null,
      status_at: handedInAt,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  const { id } = made ?? (await adoptSynced(tx, content, providerId, handedInAt))
  await tx.db
    .deleteFrom('message_template_names')
    .where('name', '=', content.name)
    .where('language', '=', content.language)
    .execute()
  const url = content.header?.mediaUrl
  if (url) await files.setUses(tx, toFileOwner(id), headerUses(url))
  return id
}

/** Completes the row of a template that a sync inserted before the provider's response to the creation arrived. */
async function adoptSynced(
  tx: Context,
  content: TemplateContent,
  providerId: string,
  handedInAt: Date,
): Promise<{ id: number }> {
  const synced = await tx.db
    .updateTable('message_templates')
    .set({ ...toColumns(content), submitted_at: handedInAt, updated_at: tx.now() })
    .where('provider_id', '=', providerId)
    .where('submitted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!synced) throw toNameTaken(content)
  return synced
}
