/**
 * PINs of numbers (two-step verification). A PIN is set when a number connects and required when it connects again, so
 * it stays stored, encrypted, after the connection has ended.
 */
import type { Context } from '#runtime/context'
import { seal, unseal } from '#runtime/secrets'

/** Saves a PIN in the caller's transaction. Does nothing for null. */
export async function savePin(ctx: Context, pin: { numberId: string; pin: string } | null): Promise<void> {
  if (!pin) return
  const change = { pin: seal(ctx.settings, getSealContext(ctx), pin.pin), updated_at: ctx.now() }
  await ctx.db
    .insertInto('number_pins')
    .values({ number_id: pin.numberId, ...change })
    .onConflict((conflict) => conflict.columns(['store_id', 'number_id']).doUpdateSet(change))
    .execute()
}

export async function readPin(ctx: Context, numberId: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('number_pins')
    .select('pin')
    .where('number_id', '=', numberId)
    .executeTakeFirst()
  return row ? (unseal(ctx.settings, getSealContext(ctx), row.pin) as string) : null
}

const getSealContext = ({ store }: Context): string => `${store.id}:number-pins`
