import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { findRouteByType, type Route } from '../numbers/route.ts'

/** The route to the official number's provider; refuses if none is connected. */
export async function requireOfficialRoute(ctx: Context): Promise<Route> {
  const route = await findRouteByType(ctx, 'official')
  if (route?.isConnected) return route
  throw refuse('conflict', 'No official number is connected: connect one first')
}
