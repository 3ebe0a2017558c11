/**
 * The PINs of numbers (two-step verification): set where a number connects, asked for where it connects anew, and kept
 * sealed after a connection has ended.
 */
import type { Context } from '#runtime/context'
import { seal, unseal } from '#runtime/secrets'

/** In the caller's transaction; null is nothing to keep. */
export async function keepPin(ctx: Context, kept: { numberId: string; pin: string } | null): Promise<void> {
  if (!kept) return
  const change = { pin: seal(ctx.settings, contextOf(ctx), kept.pin), updated_at: ctx.now() }
  await ctx.db
    .insertInto('number_pins')
    .values({ number_id: kept.numberId, ...change })
    .onConflict((conflict) => conflict.columns(['store_id', 'number_id']).doUpdateSet(change))
    .execute()
}

export async function pinOf(ctx: Context, numberId: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('number_pins')
    .select('pin')
    .where('number_id', '=', numberId)
    .executeTakeFirst()
  return row ? (unseal(ctx.settings, contextOf(ctx), row.pin) as string) : null
}

const contextOf = ({ store }: Context): string => `${store.id}:number-pins`
