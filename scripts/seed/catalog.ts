/** What the demo shops sell. */
import type { Motif } from '#operations/sandbox/pictures/motifs'
import type { CategoryInput, ProductInput } from '#operations/store/ecommerce/sandbox-catalog'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** Name, what its picture shows, category, price in cents, price struck through, options of its variants. */
type Article = [
  name: string,
  motif: Motif,
  categoryId: string,
  price: number,
  before: number | null,
  ...options: string[],
]

const auroraShelves: CategoryInput[] = [
  { id: '301', name: 'Casa' },
  { id: '302', name: 'Cozinha', parentId: '301' },
  { id: '303', name: 'Decoração', parentId: '301' },
  { id: '304', name: 'Ar livre' },
  { id: '305', name: 'Vestuário' },
  { id: '306', name: 'Papelaria' },
]

const auroraArticles: Article[] = [
  ['Caneca esmaltada Aurora', 'mug', '302', 6990, null, 'Branca', 'Verde', 'Azul'],
  ['Garrafa térmica 500 ml', 'bottle', '302', 15990, 18990, 'Preta', 'Areia'],
  ['Garrafa térmica 1 l', 'bottle', '302', 21990, null, 'Preta', 'Areia'],
  ['Jogo de facas de cozinha', 'knives', '302', 34990, 39990],
  ['Frigideira de ferro 26 cm', 'pan', '302', 28990, null],
  ['Tábua de corte em teca', 'board', '302', 18990, null, 'Média', 'Grande'],
  ['Moedor de café manual', 'grinder', '302', 24990, 27990],
  ['Café em grãos Serra Azul 250 g', 'coffee', '302', 4990, null, 'Grãos', 'Moído'],
  ['Avental de linho', 'apron', '302', 12990, null, 'Cru', 'Grafite'],
  ['Vela de soja Capim-limão', 'candle', '303', 7990, null, '120 g', '240 g'],
  ['Vela de soja Figo', 'candle', '303', 7990, 8990, '120 g', '240 g'],
  ['Manta de algodão', 'blanket', '303', 25990, null, 'Cru', 'Terracota', 'Azul'],
  ['Almofada de juta', 'pillow', '303', 11990, null],
  ['Luminária de mesa Órbita', 'lamp', '303', 38990, 44990],
  ['Vaso de cerâmica', 'vase', '303', 13990, null, 'Pequeno', 'Médio', 'Grande'],
  ['Cesto de palha', 'basket', '303', 9990, null, 'Médio', 'Grande'],
  ['Espelho redondo 60 cm', 'mirror', '303', 42990, null],
  ['Difusor de ambiente', 'diffuser', '303', 10990, null, 'Alecrim', 'Lavanda'],
  ['Cadeira dobrável de praia', 'chair', '304', 29990, 34990],
  ['Rede de descanso', 'hammock', '304', 31990, null, 'Natural', 'Listrada'],
  ['Barraca para duas pessoas', 'tent', '304', 79990, 89990],
  ['Saco de dormir', 'sleepingbag', '304', 45990, null],
  ['Lanterna recarregável', 'torch', '304', 12990, null],
  ['Mochila cargueira 40 l', 'backpack', '304', 52990, 59990, 'Verde', 'Preta'],
  ['Cantil de alumínio', 'canteen', '304', 8990, null],
  ['Toalha de secagem rápida', 'blanket', '304', 6990, null, 'Média', 'Grande'],
  ['Camiseta de algodão orgânico', 'shirt', '305', 9990, null, 'P', 'M', 'G'],
  ['Camisa de linho', 'buttons', '305', 23990, null, 'P', 'M', 'G'],
  ['Moletom Aurora', 'hoodie', '305', 27990, 31990, 'P', 'M', 'G'],
  ['Jaqueta corta-vento', 'jacket', '305', 38990, null, 'P', 'M', 'G'],
  ['Boné de sarja', 'cap', '305', 8990, null, 'Preto', 'Cáqui'],
  ['Meias de lã (par)', 'socks', '305', 4990, null, 'P/M', 'G/GG'],
  ['Chapéu de palha', 'hat', '305', 11990, null],
  ['Caderno de capa dura', 'notebook', '306', 5990, null, 'Pautado', 'Sem pauta'],
  ['Planner anual', 'planner', '306', 8990, null],
  ['Estojo de canetas', 'pens', '306', 7990, null],
  ['Kit de aquarela', 'paints', '306', 16990, null, 'Estudante', 'Profissional'],
  ['Lápis aquareláveis (24 cores)', 'pencils', '306', 12990, null],
  ['Relógio de parede Norte', 'clock', '303', 19990, null, 'Branco', 'Preto'],
  ['Coleção de inverno (prévia)', 'jacket', '305', 29990, null, 'P', 'M', 'G'],
]

const borealisShelves: CategoryInput[] = [
  { id: '301', name: 'Candles' },
  { id: '302', name: 'Blankets' },
]

const borealisArticles: Article[] = [
  ['Spruce candle', 'candle', '301', 2400, null, '6 oz', '12 oz'],
  ['Cedar candle', 'candle', '301', 2400, null],
  ['Wool blanket', 'blanket', '302', 12900, 14900, 'Grey', 'Blue'],
  ['Throw pillow', 'pillow', '302', 3900, null],
  ['Linen sheet set', 'blanket', '302', 17900, null, 'Queen', 'King'],
]

export interface Catalog {
  categories: CategoryInput[]
  products: ProductInput[]
}

interface Look {
  /** Where its pictures are. */
  pictures: string
  brand: string
  /** What a variant's option is called. */
  optionName: string
}

/** Units of the products that are scarce; all others have plenty. */
const scarce: Record<string, number> = { '1036': 2, '1037': 0, '1038': 0, '1039': 0 }

/** Forty products; `1036` has two units left, `1037` to `1039` none, `1040` is not published. */
export function auroraCatalog(timeline: Timeline, random: Random, pictures: string): Catalog {
  const look = { pictures, brand: 'Aurora', optionName: 'Modelo' }
  return {
    categories: auroraShelves,
    products: makeProducts(timeline, random, look, auroraShelves, auroraArticles),
  }
}

export function borealisCatalog(timeline: Timeline, random: Random, pictures: string): Catalog {
  const look = { pictures, brand: 'Borealis', optionName: 'Style' }
  const products = makeProducts(timeline, random, look, borealisShelves, borealisArticles)
  return { categories: borealisShelves, products }
}

function makeProducts(
  timeline: Timeline,
  random: Random,
  look: Look,
  shelves: CategoryInput[],
  articles: Article[],
): ProductInput[] {
  let variants = 0
  return articles.map(([name, motif, categoryId, price, before, ...options], index): ProductInput => {
    const id = String(1001 + index)
    const picture = `${look.pictures}/${motif}-${id}`
    const imageUrl = `${picture}.svg`
    const parentId = shelves.find((each) => each.id === categoryId)?.parentId
    return {
      id,
      name,
      brand: look.brand,
      categoryIds: parentId ? [categoryId, parentId] : [categoryId],
      tags: before === null ? [] : ['oferta'],
      imageUrl,
      images: [imageUrl, `${picture}-near.svg`],
      isPublished: id !== '1040',
      createdAt: timeline.ago(random.between(60, 415)),
      updatedAt: timeline.ago(random.between(0.5, 55)),
      variants: (options.length > 0 ? options : [null]).map((option, position) => {
        const left = position === 0 || scarce[id] === undefined ? scarce[id] : 0
        // What is scarce in several variants draws once.
        const plenty = position === 0 || left === undefined ? random.whole(6, 80) : 0
        variants += 1
        return {
          id: String(2000 + variants),
          name: option ?? name,
          sku: `${look.brand.slice(0, 3).toUpperCase()}-${id}-${position + 1}`,
          options: option ? [{ name: look.optionName, value: option }] : [],
          price: price / 100,
          compareAtPrice: before === null ? null : before / 100,
          stock: left ?? plenty,
        }
      }),
    }
  })
}
