/** Codes that pair a phone with the assistant. Only their SHA-256 is stored. */

import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { refuse, refuseTemporarily } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { randomText, sha256 } from '#runtime/values/ids'
import { phoneKey, requirePhone } from '#runtime/values/phone'
import { truncate } from '#runtime/values/truncate'
import { getAssistant } from './numbers.ts'
import type { connectCode } from './schema.ts'

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const codeLength = 8
const codeTtlMs = 10 * minuteMs
const maxCodesPerHour = 10
export const maxBindings = 10

/** Creates a code for the current user and revokes their earlier code. Runs in the caller's transaction. */
export async function createConnectCode(
  ctx: Context,
  input: { name?: string | undefined; phone?: string | null | undefined },
): Promise<z.input<typeof connectCode>> {
  const assistant = getAssistant(ctx.services)
  if (!assistant) throw refuse('conflict', 'This server has no assistant')
  const phone = input.phone ? requirePhone(input.phone, ctx.store.country) : null
  const userId = ctx.actor.userId
  if (!userId) throw new Error('A connect code belongs to a member')
  await ctx.lockStore()
  await refuseTooMany(ctx, phone)
  const now = ctx.now()
  await ctx.db
    .updateTable('chat_agent_codes')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .execute()
  const plain = randomText(codeLength, alphabet)
  const name = input.name ?? (await findMemberName(ctx, userId))
  const expiresAt = new Date(now.getTime() + codeTtlMs)
  await ctx.db
    .insertInto('chat_agent_codes')
    .values({
      id: ctx.newId(),
      user_id: userId,
      code_hash: sha256(plain),
      name,
      phone_key: phone && phoneKey(phone),
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
  const code = `${plain.slice(0, 4)}-${plain.slice(4)}`
  return {
    code,
    phone,
    name,
    assistantPhone: assistant.phone,
    link: `https://wa.me/${assistant.phone.slice(1)}?text=${code}`,
    expiresAt: expiresAt.toISOString(),
    createdAt: now.toISOString(),
  }
}

async function refuseTooMany(ctx: Context, phone: string | null): Promise<void> {
  const bindings = await ctx.db.selectFrom('chat_agent_bindings').select('phone_key').execute()
  if (phone && bindings.some((row) => row.phone_key === phoneKey(phone))) {
    throw refuse('conflict', `phone: ${phone} is paired with this store already`)
  }
  if (bindings.length >= maxBindings) {
    throw refuse('conflict', `${maxBindings} phones are paired, which is the most: remove one first`)
  }
  const { lately } = await ctx.db
    .selectFrom('chat_agent_codes')
    .select((eb) => eb.fn.countAll<number>().as('lately'))
    .where('created_at', '>', new Date(ctx.clock.ms() - hourMs))
    .executeTakeFirstOrThrow()
  if (lately >= maxCodesPerHour) {
    throw refuseTemporarily(
      'conflict',
      `${maxCodesPerHour} codes were made in the last hour: try again later`,
    )
  }
}

async function findMemberName(ctx: Context, userId: string): Promise<string> {
  const { name } = await ctx.db
    .selectFrom('store_people')
    .select('name')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return truncate(name, 60)
}

/** Extracts the code from a message, ignoring dash, case and spaces; null if there is none. */
export function parseCode(text: string): string | null {
  const plain = text.toUpperCase().replace(/[\s\-‐-―]/g, '')
  if (plain.length !== codeLength) return null
  return [...plain].every((letter) => alphabet.includes(letter)) ? plain : null
}

/** Deletes the codes and bindings of a removed member. */
export async function eraseMember(ctx: Context, userId: string): Promise<void> {
  await ctx.db.deleteFrom('chat_agent_codes').where('user_id', '=', userId).execute()
  await ctx.db.deleteFrom('chat_agent_bindings').where('user_id', '=', userId).execute()
}
