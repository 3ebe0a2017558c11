import type { EcommercePort } from './port.ts'
export function sandboxEcommerce(_options: unknown): EcommercePort {
  return {} as never
}
