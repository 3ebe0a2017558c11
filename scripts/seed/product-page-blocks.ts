/** The demo's content blocks, one of each type, for whoever measures with them. */
import { type BlockType, blockDesigns } from '#operations/product-page/content-blocks/designs'
import rows from './data/aurora-supply.json' with { type: 'json' }

interface Block {
  name: string
  type: BlockType
  design: object
}

/** With the defaults of its type. */
export const designOf = (type: BlockType, design: object): object => blockDesigns[type].parse(design)

/** `picture`: where one is, by its name. */
export const blocksOf = (picture: (name: string) => string): readonly Block[] =>
  JSON.parse(JSON.stringify(rows.content_blocks), (key, value) => {
    if (key === '$like') return undefined
    return typeof value === 'string' && value.startsWith('media:') ? picture(value.slice(6)) : value
  })
