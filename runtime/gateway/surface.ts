/** Another surface of all operations besides `/v1`: it uses the same gateway and the same keys. */
import type { Registry } from '#runtime/registry/loaded'
import type { Gateway } from './gateway.ts'

/** The parts that a surface needs. */
export interface SurfaceParts {
  gateway: Gateway
  registry: Registry
}
type SurfaceAnswer = (parts: SurfaceParts, request: Request, address: string) => Promise<Response>

export interface Surface {
  /** Called for each request: the first one loads its imports, since many servers have no such request. */
  load(): Promise<SurfaceAnswer>
}
