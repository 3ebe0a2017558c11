import { operation } from '#runtime/operation'
import { newSizeGuide, sizeGuide } from '../schema.ts'
import { createGuide, readGuide } from '../size-guides.ts'

export default operation({
  method: 'POST',
  path: '/size-guides',
  description: 'Create a size guide for products; shoppers see it at once, unless it is off.',
  words: 'new size chart with measurements',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'size-guides',
  input: { body: newSizeGuide },
  answer: { status: 201, body: sizeGuide },
  refuses: {
    conflict: 'There are 200 size guides; or a product or category is named, and no platform is connected',
    unavailable: 'A product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: {
      name: 'Camisetas',
      showUnitSwitch: true,
      tables: [
        {
          columns: ['Tamanho', 'Busto', 'Cintura'],
          rows: [
            ['P', '84-88', '64-68'],
            ['M', '88-92', '68-72'],
          ],
        },
      ],
    },
  },
  async handler(ctx, { body }) {
    return readGuide(ctx, await createGuide(ctx, body))
  },
})
