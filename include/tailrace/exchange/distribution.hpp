// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Who owns which index of a global space 0 to size - 1. Nothing here communicates.
namespace tailrace::exchange {

/// What says who owns what. All functions are pure and agree on all ranks; with `g` = `global(r, l)` for 0 <=
/// l < `count(r)`, `owner(g)` is r and `local(g)` is l, and every index is such a g once.
template <class D>
concept Ownership = std::copy_constructible<D> && requires(const D& d, std::int64_t index, int rank) {
  { d.size() } -> std::same_as<std::int64_t>;  // indices in all
  { d.ranks() } -> std::same_as<int>;
  { d.owner(index) } -> std::same_as<int>;
  { d.local(index) } -> std::same_as<std::int64_t>;  // its place among those of its owner
  { d.global(rank, index) } -> std::same_as<std::int64_t>;
  { d.count(rank) } -> std::same_as<std::int64_t>;
};

/// Shares of equal size, contiguous: the first `size % ranks` ranks have one index more.
class Block {
 public:
  Block(std::int64_t size, int ranks);
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] int owner(std::int64_t index) const noexcept {
    return static_cast<int>(index < in_longer() ? index / (each_ + 1)
                                                : longer_ + (index - in_longer()) / each_);
  }
  [[nodiscard]] std::int64_t local(std::int64_t index) const noexcept { return index - first(owner(index)); }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const noexcept {
    return first(rank) + local;
  }
  [[nodiscard]] std::int64_t count(int rank) const noexcept { return each_ + (rank < longer_ ? 1 : 0); }
  [[nodiscard]] std::int64_t contiguous_from(int rank) const noexcept { return first(rank); }

 private:
  [[nodiscard]] std::int64_t in_longer() const noexcept { return longer_ * (each_ + 1); }
  [[nodiscard]] std::int64_t first(int rank) const noexcept {
    return each_ * rank + (rank < longer_ ? rank : longer_);
  }
  std::int64_t size_, each_, longer_;
  int ranks_;
};

/// Blocks of `block` indices dealt out by turns; the last one may be shorter.
class BlockCyclic {
 public:
  BlockCyclic(std::int64_t size, int ranks, std::int64_t block);
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] int owner(std::int64_t index) const noexcept {
    return static_cast<int>(index / block_ % ranks_);
  }
  [[nodiscard]] std::int64_t local(std::int64_t index) const noexcept {
    return index / (block_ * ranks_) * block_ + index % block_;
  }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const noexcept {
    return (local / block_ * ranks_ + rank) * block_ + local % block_;
  }
  [[nodiscard]] std::int64_t count(int rank) const noexcept;

 private:
  std::int64_t size_, block_;
  int ranks_;
};

/// Indices dealt out one by one.
class Cyclic : public BlockCyclic {
 public:
  Cyclic(std::int64_t size, int ranks) : BlockCyclic(size, ranks, 1) {}
};

/// Contiguous shares of any size. Memory: 8 bytes per rank, shared by copies.
class Starts {
 public:
  /// `starts`: the first index of each rank, ascending from 0, and the size of the space behind them.
  explicit Starts(std::vector<std::int64_t> starts);
  [[nodiscard]] std::int64_t size() const noexcept { return starts_->back(); }
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(starts_->size()) - 1; }
  /// Cost: a binary search.
  [[nodiscard]] int owner(std::int64_t index) const noexcept;
  /// `owner` and `local` of many: an index that has the owner of the one before costs no search.
  void locate(std::span<const std::int64_t> indices, std::span<int> owners,
              std::span<std::int64_t> locals) const noexcept;
  [[nodiscard]] std::int64_t local(std::int64_t index) const noexcept { return index - first(owner(index)); }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const noexcept {
    return first(rank) + local;
  }
  [[nodiscard]] std::int64_t count(int rank) const noexcept { return first(rank + 1) - first(rank); }
  [[nodiscard]] std::int64_t contiguous_from(int rank) const noexcept { return first(rank); }

 private:
  [[nodiscard]] std::int64_t first(int rank) const noexcept {
    return (*starts_)[static_cast<std::size_t>(rank)];
  }
  std::shared_ptr<const std::vector<std::int64_t>> starts_;
};

/// Two ranges of indices, 0 to `first` - 1 and the `second` ones after them, each in shares of equal size: a
/// rank owns its share of both. Evens out spaces whose halves are asked for unequally often.
class DoubleBlock {
 public:
  DoubleBlock(std::int64_t first, std::int64_t second, int ranks)
      : DoubleBlock(first, second, ranks, false) {}
  [[nodiscard]] std::int64_t size() const noexcept { return low_.size() + high_.size(); }
  [[nodiscard]] int ranks() const noexcept { return low_.ranks(); }
  [[nodiscard]] int owner(std::int64_t index) const noexcept {
    return index < low_.size() ? low_.owner(index) : mirrored(high_.owner(index - low_.size()));
  }
  [[nodiscard]] std::int64_t local(std::int64_t index) const noexcept {
    return index < low_.size() ? low_.local(index)
                               : low_.count(owner(index)) + high_.local(index - low_.size());
  }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const noexcept {
    const std::int64_t in_low = low_.count(rank);
    return local < in_low ? low_.global(rank, local)
                          : low_.size() + high_.global(mirrored(rank), local - in_low);
  }
  [[nodiscard]] std::int64_t count(int rank) const noexcept {
    return low_.count(rank) + high_.count(mirrored(rank));
  }

 protected:
  DoubleBlock(std::int64_t first, std::int64_t second, int ranks, bool reversed)
      : low_(first, ranks), high_(second, ranks), reversed_(reversed) {}

 private:
  [[nodiscard]] int mirrored(int rank) const noexcept { return reversed_ ? ranks() - 1 - rank : rank; }
  Block low_, high_;
  bool reversed_;
};

/// The same with the shares of the second range handed out from the last rank to the first.
class ReversedDoubleBlock : public DoubleBlock {
 public:
  ReversedDoubleBlock(std::int64_t first, std::int64_t second, int ranks)
      : DoubleBlock(first, second, ranks, true) {}
};

/// Any of them as one type. A value: copies share what is immutable. When a space grows or shrinks, assign
/// another one.
class Distribution {
 public:
  template <Ownership D>
  Distribution(D rule)  // NOLINT: any rule is a distribution
      : rule_(std::make_shared<Model<D>>(std::move(rule))) {}

  [[nodiscard]] std::int64_t size() const { return rule_->size(); }
  [[nodiscard]] int ranks() const { return rule_->ranks(); }
  /// @local. For single indices; `locate` is for many.
  [[nodiscard]] int owner(std::int64_t index) const;
  [[nodiscard]] std::int64_t local(std::int64_t index) const;
  [[nodiscard]] bool is_local(std::int64_t index, int rank) const { return owner(index) == rank; }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const;
  [[nodiscard]] std::int64_t count(int rank) const { return rule_->count(rank); }

  /// Where the indices of a rank begin, if the rule has shares that are contiguous and ascending and says so
  /// by a function of this name: local index l of the rank is then index `contiguous_from(rank)` + l, and
  /// nobody is asked who owns it. @local
  [[nodiscard]] std::optional<std::int64_t> contiguous_from(int rank) const {
    return rule_->contiguous_from(rank);
  }
  /// Owner and local index of each of `indices`. @local. Cost: one indirect call in all.
  void locate(std::span<const std::int64_t> indices, std::span<int> owners,
              std::span<std::int64_t> locals) const {
    rule_->locate(indices, owners, locals);
  }
  /// The global indices of a rank's `locals`. @local
  void globals(int rank, std::span<const std::int64_t> locals, std::span<std::int64_t> indices) const {
    rule_->globals(rank, locals, indices);
  }
  /// Tries the rule's functions on `samples` indices of the space, and as many of those of `rank`. @local.
  /// Errors (input): they contradict each other, with the index.
  void check(int rank, std::int64_t samples) const;

 private:
  struct Rule {
    virtual ~Rule() = default;
    [[nodiscard]] virtual std::int64_t size() const = 0;
    [[nodiscard]] virtual int ranks() const = 0;
    [[nodiscard]] virtual std::int64_t count(int rank) const = 0;
    [[nodiscard]] virtual std::optional<std::int64_t> contiguous_from(int rank) const = 0;
    virtual void locate(std::span<const std::int64_t> indices, std::span<int> owners,
                        std::span<std::int64_t> locals) const = 0;
    virtual void globals(int rank, std::span<const std::int64_t> locals,
                         std::span<std::int64_t> indices) const = 0;
  };
  template <Ownership D>
  struct Model final : Rule {
    explicit Model(D rule) : d(std::move(rule)) {}
    [[nodiscard]] std::int64_t size() const override { return d.size(); }
    [[nodiscard]] int ranks() const override { return d.ranks(); }
    [[nodiscard]] std::int64_t count(int rank) const override { return d.count(rank); }
    [[nodiscard]] std::optional<std::int64_t> contiguous_from(int rank) const override {
      if constexpr (requires { d.contiguous_from(rank); }) return d.contiguous_from(rank);
      return {};
    }
    void locate(std::span<const std::int64_t> indices, std::span<int> owners,
                std::span<std::int64_t> locals) const override {
      if constexpr (requires { d.locate(indices, owners, locals); }) return d.locate(indices, owners, locals);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        owners[i] = d.owner(indices[i]);
        locals[i] = d.local(indices[i]);
      }
    }
    void globals(int rank, std::span<const std::int64_t> locals,
                 std::span<std::int64_t> indices) const override {
      for (std::size_t i = 0; i < locals.size(); ++i) indices[i] = d.global(rank, locals[i]);
    }
    D d;
  };

  void check_index(std::int64_t index) const;
  void check_local(int rank, std::int64_t local) const;
  std::shared_ptr<const Rule> rule_;
};

}  // namespace tailrace::exchange
