/** Pictures and videos that the demo's merchants uploaded. What the shops sell is pictured by their platform. */
import { readFile } from 'node:fs/promises'
import { headerPurpose } from '#operations/messaging/templates/header-media'
import { blockImages, sliderVideos, stickerImages } from '#operations/product-page/uploads'
import { reviewImages } from '#operations/reviews/pictures'
import type { Motif } from '#operations/sandbox/pictures/motifs'
import { type Picture, type Placed, paletteOf } from '#operations/sandbox/pictures/picture'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { namedId } from '#runtime/values/ids'
import { pngOf } from './png.ts'
import type { DemoStore } from './store.ts'

interface Upload {
  purpose: string
  /** Null: the film. */
  picture: Picture | null
}

const scene = (
  palette: number,
  things: readonly (readonly [motif: Motif, x: number, y: number, size: number])[],
  { width = 320, height = 320, isClear = false } = {},
): Picture => ({
  ...{ width, height, isClear, palette: paletteOf(palette) },
  things: things.map(([motif, x, y, size]): Placed => ({ motif, x, y, size })),
})

const wide = { width: 960, height: 320 }
/** As phones film. */
const tall = { width: 270, height: 480 }

const picture = (purpose: string, ...drawn: Parameters<typeof scene>): Upload => ({
  purpose,
  picture: scene(...drawn),
})
const film: Upload = { purpose: sliderVideos, picture: null }
const poster = (palette: number, ...motifs: Motif[]): Upload =>
  picture(
    sliderVideos,
    palette,
    motifs.map((motif, at) => [motif, 28, (100 * (at + 1)) / (motifs.length + 1), 48] as const),
    tall,
  )

const reviewed: Motif[] = ['mug', 'bottle', 'board', 'candle', 'pillow', 'lamp', 'vase', 'backpack']

const auroraUploads: Readonly<Record<string, Upload>> = {
  logo: picture(blockImages, 1, [['sun', 50, 50, 90]], { width: 256, height: 256, isClear: true }),
  black_friday: picture(headerPurpose, 2, [
    ['mug', 30, 56, 50],
    ['candle', 66, 48, 60],
  ]),
  seal: picture(stickerImages, 3, [['seal', 50, 50, 100]], { width: 200, height: 200, isClear: true }),
  'look-1': picture(blockImages, 0, [
    ['lamp', 80, 22, 44],
    ['blanket', 34, 62, 56],
    ['pillow', 58, 55, 44],
  ]),
  'look-2': picture(blockImages, 1, [
    ['mug', 22, 70, 36],
    ['grinder', 48, 64, 46],
    ['coffee', 71, 58, 44],
  ]),
  'look-3': picture(blockImages, 4, [
    ['clock', 30, 18, 34],
    ['mirror', 66, 24, 42],
    ['vase', 50, 82, 36],
  ]),
  'look-4': picture(blockImages, 5, [
    ['jacket', 52, 66, 50],
    ['hat', 40, 30, 34],
  ]),
  banner: picture(
    blockImages,
    3,
    [
      ['candle', 40, 50, 84],
      ['vase', 110, 50, 84],
      ['mug', 180, 52, 84],
      ['basket', 252, 52, 84],
    ],
    wide,
  ),
  'banner-phone': picture(blockImages, 3, [
    ['candle', 32, 50, 60],
    ['basket', 68, 54, 60],
  ]),
  before: picture(blockImages, 6, [['vase', 50, 52, 84]]),
  after: picture(blockImages, 4, [['vase', 50, 52, 84]]),
  film,
  'em-uso': poster(0, 'mug', 'coffee'),
  'de-perto': poster(1, 'bottle'),
  combina: poster(2, 'bottle', 'board'),
  cuidados: poster(4, 'grinder'),
  colecao: poster(3, 'mug', 'vase', 'candle'),
  'mesa-posta': poster(5, 'mug', 'board'),
  atelie: poster(6, 'vase', 'clock'),
  presentes: poster(2, 'candle', 'notebook'),
  ...Object.fromEntries(
    reviewed.map((motif, at) => [`review-${at + 1}`, picture(reviewImages, at + 2, [[motif, 44, 58, 92]])]),
  ),
}
export const reviewPictures = reviewed.length

const borealisUploads: Readonly<Record<string, Upload>> = {
  'look-1': picture(blockImages, 6, [
    ['candle', 25, 60, 50],
    ['blanket', 60, 48, 60],
  ]),
}

export const seedAuroraMedia = (ctx: Context, store: DemoStore) => upload(ctx, store, auroraUploads)
export const seedBorealisMedia = (ctx: Context, store: DemoStore) => upload(ctx, store, borealisUploads)

/** They stay, whatever becomes of what shows them. Outside a transaction. */
async function upload(
  ctx: Context,
  store: DemoStore,
  uploads: Readonly<Record<string, Upload>>,
): Promise<void> {
  const moving = await readFile(new URL('./film.webm', import.meta.url))
  const stored = await Promise.all(
    Object.entries(uploads).map(async ([name, { purpose, picture: drawn }]) => {
      const { url } = await files.put(ctx, purpose, {
        id: namedId(`${store.slug} upload ${name}`, store.timeline.ago(90).getTime()),
        fileName: drawn ? `${name}.png` : `${name}.webm`,
        contentType: drawn ? 'image/png' : 'video/webm',
        visibility: 'public',
        content: drawn ? pngOf(drawn) : moving,
      })
      return { name, url, purpose }
    }),
  )
  const uses = stored.map(({ name, url, purpose }) => ({ url, purpose, field: name }))
  await ctx.transaction((tx) => files.setUses(tx, 'demo-media', uses))
  for (const { name, url } of stored) store.media.set(name, url)
  const logo = store.media.get('logo')
  if (logo) await ctx.db.updateTable('stores').set({ logo_url: logo }).execute()
}

export function uploaded({ media, slug }: Pick<DemoStore, 'media' | 'slug'>, name: string): string {
  const url = media.get(name)
  if (url === undefined) throw new Error(`${slug} has uploaded no ${name}`)
  return url
}
