/** A store of the demo, as every step of the seed knows it. */
import type { Timeline } from './timeline.ts'

/** As the inbox keeps what it received. */
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
  /** Where its platform keeps the pictures of what it sells. */
  pictures: string
  /** Ids and addresses by what the data calls them, as `template:cart_coupon`. */
  names: Map<string, string | number>
  /** What its people uploaded, by name. */
  files: Map<string, StoredFile>
}
