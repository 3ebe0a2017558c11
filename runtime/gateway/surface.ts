/** The interface of a surface: another protocol for all operations besides `/v1`, with the same gateway and keys. */
import type { Registry } from '#runtime/registry/loaded'
import type { Gateway } from './gateway.ts'

/** The parts of the server that a surface uses. */
export interface SurfaceParts {
  gateway: Gateway
  registry: Registry
}
type SurfaceAnswer = (parts: SurfaceParts, request: Request, address: string) => Promise<Response>

export interface Surface {
  /** Called for each request. The first call imports the surface's code, since many servers never need it. */
  load(): Promise<SurfaceAnswer>
}
