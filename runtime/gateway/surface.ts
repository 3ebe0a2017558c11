/** Another way to all operations than `/v1`: it goes through the same gateway, under the same key. */
import type { Registry } from '#runtime/registry/loaded'
import type { Gateway } from './gateway.ts'

/** What a surface is made of. */
export interface SurfaceParts {
  gateway: Gateway
  registry: Registry
}
type SurfaceAnswer = (parts: SurfaceParts, request: Request, address: string) => Promise<Response>

export interface Surface {
  /** Called for each request: what it imports is loaded by the first, since many servers have none. */
  load(): Promise<SurfaceAnswer>
}
