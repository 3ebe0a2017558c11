/** A new template, handed in at the provider. */

import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { refuse, refuseForNow } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { pagesOf } from '#runtime/ports/pages'
import type { Route } from '../numbers/route.ts'
import { withinTime } from '../numbers/within-time.ts'
import type { TemplateContent, TemplateStatus } from '../provider/template-port.ts'
import { headerUses, requireHeaderFile } from './header-media.ts'
import { templateOwner } from './moves.ts'
import { requireOfficial } from './route.ts'
import { contentColumns } from './rows.ts'
import { isSameToReaders, newContent, refuseUnfit } from './rules.ts'
import type { TemplateChange } from './schema.ts'

const templatesAtMost = 250
const createdAnHourAtMost = 100
/** A hand-in that is open longer belongs to a process that died. */
const openMs = minuteMs
const answerWithinMs = 20_000

/** Refuses what the rules do not allow, a name that is taken or blocked, too many. Answers its id. */
export async function createTemplate(
  ctx: Context,
  input: TemplateChange & { name: string; language: string; category: string; body: string },
): Promise<number> {
  const content = newContent(input, ctx.store.country)
  refuseUnfit(content)
  const route = await requireOfficial(ctx)
  await requireHeaderFile(ctx, content.header)
  const creation = await openCreation(ctx, content)
  try {
    const handedInAt = ctx.now()
    const { providerId, status } = await handIn(route, content)
    return await ctx.transaction(async (tx) => {
      const id = await insertTemplate(tx, content, providerId, status, handedInAt)
      await closeCreation(tx, creation)
      return id
    })
  } catch (error) {
    // It counts no more: nothing was made, or it was there already.
    await ctx.db.deleteFrom('message_template_creations').where('id', '=', creation).execute()
    if (error instanceof Refused) throw refuse('bad_request', `The provider refused it: ${error.message}`)
    throw error
  }
}

const nameTaken = ({ name, language }: TemplateContent) =>
  refuse('conflict', `There is a template ${name} in ${language} already`)

/** Written down before the provider is asked, so that two at once never pass a limit together. */
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
          .where('created_at', '>', ago(openMs))
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
    if ((facts.templates ?? 0) + (facts.open ?? 0) >= templatesAtMost) {
      throw refuse('conflict', `There are ${templatesAtMost} templates, which is the most: delete one first`)
    }
    if ((facts.lately ?? 0) >= createdAnHourAtMost) {
      throw refuseForNow(
        'conflict',
        `${createdAnHourAtMost} templates were created in the last hour, which is the most: try again later`,
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

/** One that is there with the same content is what a lost answer left behind: it is taken over. */
async function handIn(
  { port, store }: Route,
  content: TemplateContent,
): Promise<{ providerId: string; status: TemplateStatus }> {
  try {
    return await withinTime(port.createTemplate(store, content), answerWithinMs)
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== 'template-exists') throw error
    const read = (cursor: string | null) =>
      withinTime(port.listTemplates(store, cursor ?? undefined), answerWithinMs)
    for await (const { templates } of pagesOf(read, ({ next }) => next)) {
      const found = templates.find((each) => each.name === content.name && each.language === content.language)
      if (found) {
        const { providerId, status, rejectionReason: _r, quality: _q, pausedUntil: _p, ...theirs } = found
        if (isSameToReaders(theirs, content)) return { providerId, status }
        break
      }
    }
    throw nameTaken(content)
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
      ...contentColumns(content),
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
  const { id } = made ?? (await takeSynced(tx, content, providerId, handedInAt))
  await tx.db
    .deleteFrom('message_template_names')
    .where('name', '=', content.name)
    .where('language', '=', content.language)
    .execute()
  const url = content.header?.mediaUrl
  if (url) await files.setUses(tx, templateOwner(id), headerUses(url))
  return id
}

/** A sync that ran while the provider's answer was on its way has found it there: it is the one that was asked for. */
async function takeSynced(
  tx: Context,
  content: TemplateContent,
  providerId: string,
  handedInAt: Date,
): Promise<{ id: number }> {
  const synced = await tx.db
    .updateTable('message_templates')
    .set({ ...contentColumns(content), submitted_at: handedInAt, updated_at: tx.now() })
    .where('provider_id', '=', providerId)
    .where('submitted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (!synced) throw nameTaken(content)
  return synced
}
