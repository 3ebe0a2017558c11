import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { type Route, routeOfType } from '../numbers/route.ts'

/** The way to the official number's provider; refuses where none is connected. */
export async function requireOfficial(ctx: Context): Promise<Route> {
  const route = await routeOfType(ctx, 'official')
  if (route?.isConnected) return route
  throw refuse('conflict', 'No official number is connected: connect one first')
}
