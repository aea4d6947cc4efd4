// The nodes and edges by WebGL: everything lies in the graphics memory, and a move changes a few numbers only.

import * as twgl from "../vendor/twgl-full.module.js";

const PLACE = `#version 300 es
in vec2 position;
uniform vec2 middle;
uniform vec2 scale;
vec4 placed() { return vec4((position - middle) * scale, 0.0, 1.0); }
`;

const EDGE = [
  `${PLACE}
void main() { gl_Position = placed(); }`,
  `#version 300 es
precision highp float;
uniform vec4 ink;
out vec4 colour;
void main() { colour = vec4(ink.rgb * ink.a, ink.a); }`,
];

const NODE = [
  `${PLACE}
in vec3 before;
in vec3 after;
uniform float turned;
uniform float size;
out vec3 fill;
void main() {
  gl_Position = placed();
  gl_PointSize = size;
  fill = mix(before, after, turned);
}`,
  `#version 300 es
precision highp float;
in vec3 fill;
uniform float size;
uniform float strength;
out vec4 colour;
void main() {
  float radius = length(gl_PointCoord - 0.5) * size;
  float inside = clamp(0.5 * size - radius, 0.0, 1.0);
  float alpha = inside * strength;
  if (alpha <= 0.0) discard;
  colour = vec4(fill * alpha, alpha);
}`,
];

/** Above so many edges their picture is too dense for smooth lines to be seen, which cost four times as much. */
const SMOOTH_EDGES = 30000;

const unit = (channels) => channels.map((value) => value / 255);

export class Drawing {
  constructor(canvas, numEdges) {
    this.gl = canvas.getContext("webgl2", {
      antialias: numEdges <= SMOOTH_EDGES,
      alpha: false,
      depth: false,
      stencil: false,
    });
    if (!this.gl) throw new Error("This browser has no WebGL 2.");
    this.programs = {
      edges: twgl.createProgramInfo(this.gl, EDGE),
      nodes: twgl.createProgramInfo(this.gl, NODE),
    };
    if (!this.programs.edges || !this.programs.nodes)
      throw new Error("This browser's WebGL does not take the map's programs.");
    this.gl.enable(this.gl.BLEND);
    this.gl.blendFunc(this.gl.ONE, this.gl.ONE_MINUS_SRC_ALPHA);
  }

  setGraph(layout, edges) {
    const { gl } = this;
    const ends = new Float32Array(2 * edges.length);
    for (let at = 0; at < edges.length; at += 1) {
      ends[2 * at] = layout[2 * edges[at]];
      ends[2 * at + 1] = layout[2 * edges[at] + 1];
    }
    for (const held of [this.edges, this.nodes]) this.#release(held);
    this.numEdges = edges.length / 2;
    this.edges = this.#holding(this.programs.edges, { position: { numComponents: 2, data: ends } });
    this.nodes = this.#holding(this.programs.nodes, {
      position: { numComponents: 2, data: layout },
      before: {
        numComponents: 3,
        data: new Uint8Array((layout.length / 2) * 3),
        normalize: true,
        drawType: gl.DYNAMIC_DRAW,
      },
      after: {
        numComponents: 3,
        data: new Uint8Array((layout.length / 2) * 3),
        normalize: true,
        drawType: gl.DYNAMIC_DRAW,
      },
    });
  }

  #holding(program, arrays) {
    const buffers = twgl.createBufferInfoFromArrays(this.gl, arrays);
    return { buffers, vertices: twgl.createVertexArrayInfo(this.gl, program, buffers) };
  }

  #release(held) {
    if (!held) return;
    for (const { buffer } of Object.values(held.buffers.attribs)) this.gl.deleteBuffer(buffer);
    this.gl.deleteVertexArray(held.vertices.vertexArrayObject);
  }

  setColours(before, after) {
    twgl.setAttribInfoBufferFromArray(this.gl, this.nodes.buffers.attribs.before, before);
    twgl.setAttribInfoBufferFromArray(this.gl, this.nodes.buffers.attribs.after, after);
  }

  /** One frame. `dimmed` is 0 to 1: how far everything steps back behind what is lit above it. */
  draw(view, { theme, turned, dimmed, nodeSize, ratio }) {
    const { gl } = this;
    const place = {
      middle: [view.x, view.y],
      scale: [(2 * view.scale) / view.width, (-2 * view.scale) / view.height],
    };
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(...unit(theme.map), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.numEdges) {
      const opacity = Math.min(0.55, Math.max(0.05, 16 / Math.sqrt(this.numEdges)) * Math.sqrt(view.zoom));
      this.#run(this.programs.edges, this.edges, gl.LINES, {
        ...place,
        ink: [...unit(theme.edge), opacity * (1 - 0.6 * dimmed)],
      });
    }
    const strength = 1 - 0.72 * dimmed;
    this.#run(this.programs.nodes, this.nodes, gl.POINTS, { ...place, turned, size: nodeSize * ratio, strength });
  }

  /** Milliseconds until what `act` draws is really there. */
  async timed(act) {
    await this.#reached();
    const began = performance.now();
    act();
    await this.#reached();
    return performance.now() - began;
  }

  /** Waits until the graphics processor has done everything that was asked of it, a second at most. */
  async #reached() {
    const { gl } = this;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const deadline = performance.now() + 1000;
    while (
      !gl.isContextLost() &&
      gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED &&
      performance.now() < deadline
    ) {
      await new Promise((resume) => {
        setTimeout(resume, 1);
      });
    }
    gl.deleteSync(fence);
  }

  #run(program, held, kind, uniforms) {
    this.gl.useProgram(program.program);
    twgl.setBuffersAndAttributes(this.gl, program, held.vertices);
    twgl.setUniforms(program, uniforms);
    twgl.drawBufferInfo(this.gl, held.vertices, kind);
  }
}
