/** A store of the demo, as passed to every step of the seed. */
import type { Timeline } from './timeline.ts'

/** A received file as stored by the inbox. */
interface StoredFile {
  key: string
  url: string
  fileName: string
  contentType: string
  size: number
}

export interface DemoStore {
  id: string
  slug: string
  name: string
  domain: string
  country: string
  currency: string
  locale: string
  plan: string
  ownerEmail: string
  timeline: Timeline
  /** Ids of its people by first name. */
  people: Record<string, string>
  /** Address of its products' pictures at the platform. */
  pictures: string
  /** Ids and addresses by their name in the data, such as `template:cart_coupon`. */
  names: Map<string, string | number>
  /** Uploads of its people, by name. */
  files: Map<string, StoredFile>
}
